"""The texts of the made PDFs, in five languages: every maker draws them, every test expects them."""

from __future__ import annotations

from typing import NamedTuple


class Texts(NamedTuple):
    """The texts of one language; each paragraph is longer than two lines of a page."""

    title: str
    sections: tuple[str, str, str]
    body: tuple[str, str, str]
    items: tuple[str, tuple[str, str], str]  # the second is nested below the first
    long_item: str
    steps: tuple[str, str, str]
    rows: tuple[tuple[str, ...], ...]  # the first is the head
    caption: str
    noted: tuple[str, str]  # a footnote's mark is between them
    note: str
    running: tuple[str, str]  # header and footer
    page: str  # text around the page number
    linked: tuple[str, str, str]  # the second is a link
    hyphened: tuple[tuple[str, ...], str]  # lines, and their text without the line breaks
    author: str


TEXTS = {
    "en": Texts(
        title="Handbook of the pump house",
        sections=("Before the start", "Daily rounds", "Reading the gauges"),
        body=(
            "The pump house stands beside the old canal and supplies the whole lower town with water. Three pumps "
            "work "
            "in turns, so that one of them can always rest. Nobody enters the hall without a helmet.",
            "Every morning the warden walks through the hall and listens to the bearings. A pump that hums evenly "
            "is in "
            "good health, a pump that knocks is stopped at once. What was heard is written into the green book.",
            "The gauges hang on the north wall because the sun would fade their dials. Each of them is read twice, "
            "once "
            "from the left and once from the right, and the mean of both values counts.",
        ),
        items=("Helmets for all visitors", ("Red ones for guests", "White ones for staff"), "Gloves made of leather"),
        long_item="A lamp that burns for at least ten hours without a new battery, because the stairs behind the "
        "second tank have no light of their own",
        steps=("Open the valve slowly.", "Wait until the needle rests.", "Write down the pressure."),
        rows=(
            ("Pump", "Built", "Place"), ("Anna", "1954", "north hall"), ("Berta", "1961", "cellar"),
            ("Clara", "1987", "river bank"),
        ),
        caption="Figure 1. The hall seen from the canal",
        noted=("The first pump came from a shipyard", " and was carried here by barge."),
        note="The yard was closed in 1973.",
        running=("Pump house handbook", "Water works of the lower town"),
        page="Page {}",
        linked=("Spare parts are listed in", "the catalogue of the maker", "and can be ordered there."),
        hyphened=(
            (
                "The maintenance of the pumps is a task for patient people. A mainten-",
                "ance plan hangs at the door, and a well-known firm comes every year.",
                "All engineers of this firm, so the people of the valley say, are well-",
                "known. The long-term plan is kept in the office.",
            ),
            "The maintenance of the pumps is a task for patient people. A maintenance plan hangs at the door, and a "
            "well-known firm comes every year. All engineers of this firm, so the people of the valley say, are "
            "well-known. The long-term plan is kept in the office.",
        ),
        author="Jane Hill",
    ),
    "pl": Texts(
        title="Podręcznik przepompowni",
        sections=("Przed uruchomieniem", "Codzienny obchód", "Odczyt wskaźników"),
        body=(
            "Przepompownia stoi przy starym kanale i zaopatruje w wodę całe dolne miasto. Trzy pompy pracują na "
            "zmianę, "
            "dzięki czemu jedna z nich zawsze może odpocząć. Nikt nie wchodzi do hali bez kasku.",
            "Każdego ranka dozorca przechodzi przez halę i nasłuchuje łożysk. Pompa, która równo mruczy, jest "
            "zdrowa, a "
            "taka, która stuka, zostaje natychmiast zatrzymana. Wszystko zapisuje się w zielonej książce.",
            "Wskaźniki wiszą na ścianie północnej, bo słońce wypaliłoby ich tarcze. Każdy odczytuje się dwa razy, "
            "raz z "
            "lewej i raz z prawej strony, a liczy się średnia obu wartości.",
        ),
        items=("Kaski dla wszystkich gości", ("Czerwone dla zwiedzających", "Białe dla załogi"), "Rękawice ze skóry"),
        long_item="Lampa, która świeci co najmniej dziesięć godzin bez wymiany baterii, ponieważ schody za drugim "
        "zbiornikiem nie mają własnego oświetlenia",
        steps=("Powoli otwórz zawór.", "Poczekaj, aż wskazówka stanie.", "Zapisz ciśnienie."),
        rows=(
            ("Pompa", "Rok", "Miejsce"), ("Żaneta", "1954", "hala północna"), ("Łucja", "1961", "piwnica"),
            ("Świętosława", "1987", "brzeg rzeki"),
        ),
        caption="Rysunek 1. Hala widziana od strony kanału",
        noted=("Pierwsza pompa pochodzi ze stoczni", ", a przypłynęła tu barką."),
        note="Stocznię zamknięto w roku 1973.",
        running=("Podręcznik przepompowni", "Wodociągi dolnego miasta"),
        page="Strona {}",
        linked=("Części zamienne wymienia", "katalog wytwórcy pomp", "i tam można je zamówić."),
        hyphened=(
            (
                "Konserwacja pomp to zadanie dla ludzi cierpliwych. Plan mówi, że konser-",
                "wacja odbywa się dwa razy w roku, a robi to polsko-niemiecka spółka.",
                "Inna firma, która dostarcza części i naprawia łożyska, też jest polsko-",
                "niemiecka. Biało-czerwona tablica wisi przy wejściu.",
            ),
            "Konserwacja pomp to zadanie dla ludzi cierpliwych. Plan mówi, że konserwacja odbywa się dwa razy w "
            "roku, a "
            "robi to polsko-niemiecka spółka. Inna firma, która dostarcza części i naprawia łożyska, też jest "
            "polsko-niemiecka. Biało-czerwona tablica wisi przy wejściu.",
        ),
        author="Łucja Żółkiewska",
    ),
    "de": Texts(
        title="Handbuch des Pumpenhauses",
        sections=("Vor dem Anlaufen", "Täglicher Rundgang", "Ablesen der Anzeigen"),
        body=(
            "Das Pumpenhaus steht am alten Kanal und versorgt die ganze Unterstadt mit Wasser. Drei Pumpen arbeiten "
            "im "
            "Wechsel, damit immer eine von ihnen ruhen kann. Niemand betritt die Halle ohne Helm.",
            "Jeden Morgen geht der Wärter durch die Halle und horcht auf die Lager. Eine Pumpe, die gleichmäßig "
            "brummt, "
            "ist gesund, eine klopfende wird sofort angehalten. Was er gehört hat, schreibt er ins grüne Buch.",
            "Die Anzeigen hängen an der Nordwand, weil die Sonne ihre Zifferblätter bleichen würde. Jede wird zweimal "
            "abgelesen, einmal von links und einmal von rechts, und der Mittelwert beider Werte gilt.",
        ),
        items=("Helme für alle Besucher", ("Rote für Gäste", "Weiße für Mitarbeiter"), "Handschuhe aus Leder"),
        long_item="Eine Lampe, die mindestens zehn Stunden ohne neue Batterie leuchtet, denn die Treppe hinter dem "
        "zweiten Kessel hat kein eigenes Licht",
        steps=("Das Ventil langsam öffnen.", "Warten, bis der Zeiger ruht.", "Den Druck aufschreiben."),
        rows=(
            ("Pumpe", "Baujahr", "Ort"), ("Ännchen", "1954", "Nordhalle"), ("Käthe", "1961", "Keller"),
            ("Clara", "1987", "Flussufer"),
        ),
        caption="Abbildung 1. Die Halle vom Kanal aus gesehen",
        noted=("Die erste Pumpe kam aus einer Werft", " und wurde auf einem Kahn hergebracht."),
        note="Die Werft wurde 1973 geschlossen.",
        running=("Handbuch Pumpenhaus", "Wasserwerke der Unterstadt"),
        page="Seite {}",
        linked=("Ersatzteile nennt", "der Katalog des Herstellers", "und dort bestellt man sie auch."),
        hyphened=(
            (
                "Die Instandhaltung der Pumpen ist Sache von Geduldigen. Eine Instand-",
                "haltung dauert zwei Stunden, und eine deutsch-polnische Firma hilft.",
                "Auch die Teile, die im Lager hinter der Halle liegen, sind deutsch-",
                "polnische Ware. Die Nord-Süd-Leitung wird eigens geprüft.",
            ),
            "Die Instandhaltung der Pumpen ist Sache von Geduldigen. Eine Instandhaltung dauert zwei Stunden, und "
            "eine "
            "deutsch-polnische Firma hilft. Auch die Teile, die im Lager hinter der Halle liegen, sind "
            "deutsch-polnische Ware. Die Nord-Süd-Leitung wird eigens geprüft.",
        ),
        author="Jörg Müßig",
    ),
    "ru": Texts(
        title="Руководство по насосной станции",
        sections=("Перед запуском", "Ежедневный обход", "Чтение приборов"),
        body=(
            "Насосная станция стоит у старого канала и снабжает водой весь нижний город. Три насоса работают по "
            "очереди, чтобы один из них всегда мог отдыхать. Никто не входит в зал без каски.",
            "Каждое утро смотритель проходит через зал и слушает подшипники. Насос, который гудит ровно, здоров, а "
            "тот, "
            "что стучит, сразу останавливают. Всё услышанное записывают в зелёную книгу.",
            "Приборы висят на северной стене, потому что солнце выжгло бы их шкалы. Каждый прибор читают дважды, один "
            "раз слева и один раз справа, и считается среднее обоих значений.",
        ),
        items=("Каски для всех гостей", ("Красные для посетителей", "Белые для работников"), "Перчатки из кожи"),
        long_item="Фонарь, который горит не меньше десяти часов без замены батареи, потому что на лестнице за вторым "
        "баком нет своего света",
        steps=("Медленно откройте клапан.", "Дождитесь, пока стрелка замрёт.", "Запишите давление."),
        rows=(
            ("Насос", "Год", "Место"), ("Анна", "1954", "северный зал"), ("Берта", "1961", "подвал"),
            ("Клара", "1987", "берег реки"),
        ),
        caption="Рисунок 1. Зал со стороны канала",
        noted=("Первый насос привезли с верфи", ", на большой барже."),
        note="Верфь закрыли в 1973 году.",
        running=("Руководство по станции", "Водоканал нижнего города"),
        page="Страница {}",
        linked=("Запасные части перечисляет", "каталог изготовителя насосов", "и там их можно заказать."),
        hyphened=(
            (
                "Обслуживание насосов поручают терпеливым людям. По плану обслу-",
                "живание проходит дважды в год, и делает это русско-китайская фирма.",
                "Другая фирма, которая поставляет запасные части, тоже русско-",
                "китайская. Северо-западный ветер здесь не редкость.",
            ),
            "Обслуживание насосов поручают терпеливым людям. По плану обслуживание проходит дважды в год, и делает "
            "это "
            "русско-китайская фирма. Другая фирма, которая поставляет запасные части, тоже русско-китайская. "
            "Северо-западный ветер здесь не редкость.",
        ),
        author="Анна Щукина",
    ),
    "zh": Texts(
        title="水泵站使用手册",
        sections=("启动之前", "每日巡查", "读取仪表"),
        body=(
            "水泵站建在旧运河旁边，为整个下城供水。三台水泵轮流工作，因此总有一台可以休息。任何人不戴安全帽都不得进入大厅，"
            "来访的客人也必须在门口登记姓名，并由值班人员陪同参观。",
            "每天早晨，管理员走过大厅，仔细倾听轴承的声音。嗡嗡声均匀的水泵是健康的，发出敲击声的水泵必须立即停机。"
            "听到的一切都要写进绿色的记录本，晚上由站长检查并签名。",
            "仪表挂在北面的墙上，因为阳光会使表盘褪色。每个仪表都要读两次，一次从左边读，一次从右边读，"
            "最后以两个数值的平均数为准。读数不清楚时，应当请另一位同事再读一遍。",
        ),
        items=("所有来访者的安全帽", ("红色的给客人", "白色的给员工"), "皮革手套"),
        long_item="一盏不用更换电池就能照明至少十个小时的灯，因为第二个水箱后面的楼梯没有自己的照明，"
        "值班人员晚上必须带着灯才能安全地走过去",
        steps=("慢慢打开阀门。", "等到指针停下来。", "记下压力。"),
        rows=(
            ("水泵", "年份", "位置"), ("安娜", "1954", "北大厅"), ("贝塔", "1961", "地下室"),
            ("克拉拉", "1987", "河岸"),
        ),
        caption="图 1 从运河看大厅",
        noted=("第一台水泵来自一家船厂", "，是用驳船运来的。"),
        note="这家船厂于一九七三年关闭。",
        running=("水泵站手册", "下城自来水公司"),
        page="第 {} 页",
        linked=("备件列在", "制造商的产品目录", "里面，可以在那里订购。"),
        hyphened=(
            (
                "水泵的维护工作需要有耐心的人来完成。维护计划挂在门口，每年进行两次，由一家熟",
                "悉设备的公司负责。工程师们在现场用平板电脑检查所有部件，并且用 Spanwise",
                "软件记录结果，把报告交给站长保存。",
            ),
            "水泵的维护工作需要有耐心的人来完成。维护计划挂在门口，每年进行两次，由一家熟悉设备的公司负责。"
            "工程师们在现场用平板电脑检查所有部件，并且用 Spanwise 软件记录结果，把报告交给站长保存。",
        ),
        author="王小明",
    ),
}  # fmt: skip
LANGUAGES = tuple(TEXTS)
CODE = "def mean(left, right):\n    total = left + right\n    return total / 2"
