"""Words that decide whether a dot ends a sentence: one table per question, one entry per language.

Keys are lower case without the final dot; the parts of a multi-part abbreviation are joined (`z.b`, `т.е`),
however the text spaces them. Chinese and Japanese texts quote English, so they use the English entries.
"""


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# A dot after these never ends a sentence: something always follows them.
ABBREVIATIONS: dict[str, frozenset[str]] = {
    "en": _words("""
        dr mr mrs ms mx messrs mme mlle prof rev fr hon gen col lt capt cmdr sgt maj cpl pvt adm gov sen rep pres supt
        st mt ft ave blvd rd hwy rte e.g eg i.e ie cf vs v viz ca approx est dept univ fig figs eq eqs ch chap vol vols
        ed eds pp resp incl excl jan feb apr jun jul aug sept sep oct nov mon tue wed thu fri et.al al trans op.cit ibid
        esp assoc deg ph.d d.phil
    """),
    "pl": _words("""
        np m.in tzn tj tzw zob por wg ww ws dr hab mgr inż lek med prof doc ks św bł gen płk ppłk mjr kpt plut kpr sierż
        ul al pl os woj pow gm tel faks godz str rys rozdz art ust pkt poz nr dz dz.u t.j lit ur zm red oprac tłum wyd
        pt dot im abp bp hr mec dyr min wz m.st tys mln mld sp śp jw dn ang niem łac ros fr zał tow kard ppor chor asp
        kom nadkom podkom insp podinsp st zam kier wicedyr adw prok sędz r.pr sz.p wsp ob arch dypl lic zb sygn wew skr
        dł szer wys gat rz jez pn wt śr czw sob niedz płn płd pd wsch zach
    """),
    "de": _words("""
        dr prof hr hrn fr frl dipl ing dipl.-ing st z.b zb d.h dh u.a ua i.d.r i.d.s i.v.m i.j i.a i.s.v m.e m.w u.u z.t
        z.zt s.o s.u o.g o.ä u.ä h.c v.a bzw bspw vgl abb nr kap bd abs anm aufl hrsg verf ca inkl exkl zzgl abzgl evtl
        ggf ggfs sog ehem gegr geb gest verh lt gem bzgl betr str fa tel mio mrd tsd mo di sa jan feb apr aug sept okt
        nov dez allg insb insbes engl frz lat griech z.hd i.e dt österr röm kath ev evang bhf hbf pfr kpt hptm bgm gebr
        sogen entspr einschl ausschl urspr bes tgl zw verl jg univ inst abt ges vors stv stellv ref ldkr kr whg p.adr ew
    """),
    "ru": _words("""
        т.е т.к т.н т.о т.наз т.ч в.т.ч напр см ср рис табл стр гл разд ст п пп ч д кв корп ул пер пр просп пл наб бул
        обл р-н пос дер им проф акад доц канд д-р г-н г-жа гр гос ген полк кап лейт сов чл тел факс англ нем франц лат
        греч рус ред изд сост вып зам зав млн млрд тыс янв фев февр апр авг сент окт нояб дек св дж прим оз хр тов тт
        гр-н гр-ка инж нач дир упр секр отв отд бух преп асп студ уч юр адв нотар деп реж мл серж адм подполк ген.-м
        ген.-л ген.-полк чл.-корр бр сб абз прил респ пр-т б-р мкр мкрн ж.-д изд-во вл оф
    """),
}

# A dot after these may end a sentence: it does before a capital letter. Single letters, and words that are in the
# table above as well, count only after a number: `1999 r. Był`, `5 ms. The` end, `R. Nowak` and `Ms. Lee` don't.
ENDERS: dict[str, frozenset[str]] = {
    "en": _words("""
        etc inc ltd co corp llc plc bros jr sr esq p.m a.m pm am b.c a.d b.c.e c.e s.a m.d b.a m.a b.sc m.sc
        oz lb lbs tbsp tsp ft ms min hrs hr sec yr yrs mi km kg cm mm mph
    """),
    "pl": _words("""
        itd itp etc in i.in i.inn r w n.e p.n.e n.p.m s.a o.o z.o.o sp.z.o.o sp.j zł gr kg cm mm km ms min sek nast cdn
        m.kw br bm ub
    """),
    "de": _words("""
        usw etc u.a.m u.v.m uvm u.dgl o.dgl dgl usf ff f chr v.chr n.chr u.z v.u.z jh jhd jhdt std sek min mwst co kg
        ag stk p.a s.a d.ä d.j jr sen ew kr
    """),
    "ru": _words("""
        т.д т.п и.т.д и.т.п г гг в вв н.э до.н.э др и.др проч р руб коп с.г т.г мин сек кг см км мм мл чел экз шт л.с
    """),
}

# A dot after these is no end before a digit (`No. 7`, `max. 20`); elsewhere they are ordinary words.
NUMBERED: dict[str, frozenset[str]] = {
    "en": _words("no nos art secs mar may dec sat sun ex par para paras p pt pts max tel ext ver ref refs tab app"),
    "pl": _words("ok tab tabl par m pos kl zad ćw bud lok max maks ver"),
    "de": _words("art tab max mind s mär mrz jun jul ver ex zi pos lit rn rdnr"),
    "ru": _words("ок макс мар май июн июл эт под оп ауд ком"),
}

# Words that typically begin a sentence: after an initial or an ordinal they show that the sentence ended there.
STARTERS: dict[str, frozenset[str]] = {
    "en": _words("""
        the a an this that these those it its he she they we you i his her their our your my there here in on at by for
        from with after before during since when where while if as but and or so yet then thus however although because
        what why how who which is are was were do does did has have no not some many most all each every to see
    """),
    "pl": _words("""
        to ten ta te ci tamten on ona ono oni one jest są był była było byli były ma mają nie tak w we z ze na po do od
        o u za przed przy pod nad przez dla bez i a ale lecz jednak więc zatem oraz albo czy co kto gdzie kiedy jak jaki
        dlaczego gdy jeśli jeżeli ponieważ choć potem następnie później dziś teraz tam tu jego jej ich wtedy każdy
    """),
    "de": _words("""
        der die das den dem des ein eine einer eines dies diese dieser dieses jene jener es er sie wir ihr ich man sein
        seine ihre im in am an auf aus bei mit nach von vor zu zum zur für durch über unter um bis seit während wenn als
        ob da dann danach dort hier heute aber und oder doch denn also so auch nur nicht kein keine warum wie wo was wer
        welche ist sind war waren hat haben wurde wurden jedoch allerdings außerdem
    """),
    "ru": _words("""
        это этот эта эти тот та те он она оно они мы вы я его её ее их наш ваш мой в во на по из за до от с со к у о об
        при для без через после перед и а но или однако поэтому также тоже так затем потом там тут здесь где когда
        как какой кто что почему зачем если хотя потому пока не нет все всё каждый был была было были есть
        сегодня теперь тогда
    """),
}
