"""Pairs of a query word and a word in the text. Hard ones: vowels change, stems are irregular."""

from __future__ import annotations

FOUND = {
    "en": """
        mouse mice|goose geese|child children|foot feet|tooth teeth|ox oxen|crisis crises|criterion criteria
        phenomenon phenomena|wolf wolves|knife knives|leaf leaves|go went|write written|write wrote|take taken
        buy bought|teach taught|think thought|bring brought|freeze frozen|run ran|index indices|matrix matrices
        vertex vertices|analysis analyses|bad worse|good better|study studies|running run|configuration configurations
        policy policies|deploying deployed|query queries|choose chosen|hypothesis hypotheses|man men
    """,
    "pl": """
        dokument dokumentów|pies psa|dzień dni|dziecko dzieci|człowiek ludzie|rok lata|ręka rąk|oko oczu|brat bracia
        iść szedł|pisać piszę|księga ksiąg|książka książek|miasto mieście|stół stole|kot kotów|sen snu|ojciec ojca
        duży większy|dobry lepszy|być jest|móc mogą|plik plików|węzeł węzłów|klaster klastra|cukier cukru|błąd błędów
        ustawienie ustawień|żądanie żądań|wziąć wezmą|zmienić zmieniony|usługa usługach|pamięć pamięci|kolejka kolejce
        jeść jem
    """,
    "de": """
        Haus Häuser|Buch Bücher|Maus Mäuse|Mann Männer|Kind Kinder|gehen ging|gehen gegangen|schreiben geschrieben
        nehmen nimmt|lesen gelesen|sehen sieht|laufen läuft|gut besser|hoch höher|Fuß Füße|Zahn Zähne|Mutter Mütter
        Vater Väter|Stadt Städte|Datei Dateien|bringen gebracht|denken gedacht|finden gefunden|schließen geschlossen
        Museum Museen|Thema Themen|Konto Konten|Ast Äste|Kraft Kräfte|viel mehr|helfen hilft|ziehen gezogen
        Fluss Flüsse|löschen gelöscht|Anwendung Anwendungen|Straße Straßen
    """,
    "ru": """
        препарат препарата|человек люди|ребенок детей|друг друзья|брат братья|идти шёл|писать пишу|день дня|отец отца
        окно окон|сон сна|рот рта|ухо уши|мать матери|время времени|имя имён|хороший лучше|плохой хуже|мочь могут
        хотеть хочет|взять возьмут|жить живёт|сестра сестёр|цветок цветы|ёлка елок|год лет|кусок куска|палец пальцев
        файл файлов|узел узлов|ошибка ошибок|настройка настроек|сказать скажет|бежать бегу|церковь церквей|стул стулья
    """,
}
"""Each pair must be found in both directions."""

APART = {
    "en": """
        universe university|organ organization|policy police|general generator|new news|past paste|wand wander
        import important|command commander|sever server|container contain|port portable|secret secretary|desert dessert
        cat category|node nod|log logic|paste past|plan plane|table tablet
    """,
    "pl": """
        kot kod|pies pisać|dom domena|sad sąd|plik plikacja|rok rokowanie|las laska|kasa kaszel|port portret
        węzeł wąż|klaster klasztor|praca pracownia|mysz myśl|góra góral|droga drogeria|bok bak
    """,
    "de": """
        Haus Haut|Sucht suchen|schon schön|fordern fördern|zählen Zahn|Zahl Zahn|Mutter mutig|Stadt Staat
        Kunde Kunst|Leiter Leitung|Wort Wirt|Datei Datum|Karte Karton|Bank Banane|Tor Torte
    """,
    "ru": """
        кот код|мука мукомол|порт портрет|банк банан|роман романс|мел мель|узел узор|файл файв|лес лестница
        страна странный|вода водитель|дом дама|пол поле|рука рукопись|город гордость
    """,
}
"""Neither word of a pair may find the other."""

WITHIN = {
    "zh": [
        ("容器", "Kubernetes 是一个可移植的容器编排平台。"),
        ("集群", "如何创建一个集群"),
        ("文档", "本页是中文文档的首页。"),
        ("数据库", "把数据写入数据库中保存"),
        ("水", "请喝水。"),
        ("存储卷", "每个存储卷都有自己的声明"),
    ],
    "ja": [
        ("東京", "私は東京都に住んでいます。"),
        ("コンテナ", "コンテナランタイムをインストールする"),
        ("サーバ", "サーバーを再起動してください"),
        ("サーバー", "Webサーバの設定"),
        ("文書", "この文書は日本語で書かれています"),
        ("食べる", "朝ご飯を食べました"),
        ("ｻｰﾊﾞ", "サーバーを再起動してください"),
        ("猫", "吾輩は猫である"),
    ],
}
"""A query, and a sentence that contains it."""


def pairs(table: dict[str, str], language: str) -> list[tuple[str, str]]:
    """Return the pairs of a language."""
    found = [tuple(pair.split()) for line in table[language].split("\n") for pair in line.split("|") if pair.strip()]
    return [(first, second) for first, second in found]
