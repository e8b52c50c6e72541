"""Function words of four languages, which count less in a query.

Rare words are usually distinctive, but in a small store in several languages even `the` is rare. A word that names a
thing in another language, such as `pod`, is not in the list.
"""

from __future__ import annotations

from typing import Final

_ENGLISH: Final = (
    "a an and any are as at be been but by can could did do does for from had has have he her his how i if in into is"
    " it its may me might my no not of on or our shall she should so some than that the their them then there these"
    " they this those to was we were what when where which who whom whose why will with would you your"
)
_POLISH: Final = (
    "a aby albo bez być był była było były czy czym dla do gdy gdzie i ich ile im jak jaka jaki jakie jako je"
    " jego jej jest jeśli już kiedy kto która które który lub ma mi może mogę na nie niż o od oraz po przez"
    " przy są się ta tak tam te tego tej to tu tym u w we z za ze że żeby"
)
_GERMAN: Final = (
    "aber als am an auch auf aus bei bis das dass dem den der des die dies diese dieser dieses durch ein eine einem"
    " einen einer eines er es für haben hatte ich ihr im in ist kann mein mich mit muss nach nicht noch nur"
    " ob oder ohne sein sich sie sind so über um und uns unter vom von vor wann was wenn wer werden wie wir wird wo"
    " zu zum zur"
)
_RUSSIAN: Final = (
    "а без бы был была были было быть в вам вас во вы где да для до его ее если есть еще ещё же за и из или им их к как"
    " какая какие какой когда ко кто ли меня мне может мой мы на над надо не него нее неё нет ни но ну о об он она они"
    " оно от по под при с свой себя со так также такой там то тоже только том ты у уже чем что чтобы эта эти это этот я"
)
FUNCTION_WORDS: Final = frozenset(" ".join((_ENGLISH, _POLISH, _GERMAN, _RUSSIAN)).split())
