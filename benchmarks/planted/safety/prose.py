"""Running text in sixteen languages: sentences of three clauses, none of which says anything of a person."""

from __future__ import annotations

from random import Random

UNSPACED = ("ja", "zh")

# When | what happened | and how it went on, six to seven of each; any three make a sentence.
_CLAUSES = {
    "en": "On Sunday morning|After the long winter|In those years|A little later|Towards evening|When the rain stopped"
    "#the ferry left the small harbour|the baker opened his shop by the church|two painters walked up to the old mill|"
    "the river rose above the lower bridge|a choir was singing in the market hall|the gardener planted beans along the "
    "wall|the teacher showed the children a map"
    "#because the wind had turned at last.|while most of the town was asleep.|and nobody thought it strange.|"
    "though the road was still closed.|so that the guests could see the lake.|and the whole street smelled of bread.",
    "de": "Am Sonntagmorgen|Nach dem langen Winter|In jenen Jahren|Etwas später|Gegen Abend|Als der Regen aufhörte"
    "#verließ die Fähre den kleinen Hafen|öffnete der Bäcker seinen Laden neben der Kirche|gingen zwei Maler zur alten "
    "Mühle hinauf|stieg der Fluss über die untere Brücke|sang ein Chor in der Markthalle|pflanzte der Gärtner Bohnen an "
    "der Mauer|zeigte die Lehrerin den Kindern eine Karte"
    "#weil der Wind sich gedreht hatte.|während die meisten noch schliefen.|und niemand wunderte sich darüber.|"
    "obwohl die Straße noch gesperrt war.|damit die Gäste den See sehen konnten.|und die Gasse roch nach frischem Brot.",
    "fr": "Le dimanche matin|Après le long hiver|Dans ces années-là|Un peu plus tard|Vers le soir|Quand la pluie cessa"
    "#le bac quitta le petit port|le boulanger ouvrit sa boutique près de l'église|deux peintres montèrent au vieux "
    "moulin|la rivière passa par-dessus le pont du bas|un chœur chantait dans la halle du marché|le jardinier planta des "
    "haricots le long du mur|l'institutrice montra une carte aux enfants"
    "#parce que le vent avait enfin tourné.|pendant que la ville dormait encore.|et personne ne s'en étonna.|"
    "bien que la route fût encore fermée.|pour que les invités voient le lac.|et toute la rue sentait le pain frais.",
    "es": "El domingo por la mañana|Después del largo invierno|En aquellos años|Un poco más tarde|Hacia la noche|Cuando "
    "dejó de llover#el barco salió del pequeño puerto|el panadero abrió su tienda junto a la iglesia|dos pintores subieron "
    "al viejo molino|el río pasó por encima del puente bajo|un coro cantaba en el mercado cubierto|el jardinero plantó "
    "judías junto al muro|la maestra enseñó un mapa a los niños"
    "#porque el viento había cambiado al fin.|mientras casi todo el pueblo dormía.|y a nadie le pareció extraño.|"
    "aunque la carretera seguía cerrada.|para que los invitados vieran el lago.|y toda la calle olía a pan.",
    "it": "La domenica mattina|Dopo il lungo inverno|In quegli anni|Poco più tardi|Verso sera|Quando smise di piovere"
    "#il traghetto lasciò il piccolo porto|il fornaio aprì la bottega accanto alla chiesa|due pittori salirono al vecchio "
    "mulino|il fiume superò il ponte di sotto|un coro cantava nel mercato coperto|il giardiniere piantò fagioli lungo il "
    "muro|la maestra mostrò una mappa ai bambini"
    "#perché il vento era finalmente girato.|mentre quasi tutti dormivano.|e nessuno lo trovò strano.|"
    "anche se la strada era ancora chiusa.|perché gli ospiti vedessero il lago.|e tutta la via profumava di pane.",
    "nl": "Op zondagochtend|Na de lange winter|In die jaren|Iets later|Tegen de avond|Toen de regen ophield"
    "#verliet de veerboot de kleine haven|opende de bakker zijn winkel naast de kerk|liepen twee schilders naar de oude "
    "molen|kwam de rivier boven de lage brug uit|zong een koor in de markthal|plantte de tuinman bonen langs de muur|"
    "liet de juf de kinderen een kaart zien"
    "#omdat de wind eindelijk gedraaid was.|terwijl bijna iedereen nog sliep.|en niemand vond het vreemd.|"
    "hoewel de weg nog dicht was.|zodat de gasten het meer konden zien.|en de hele straat rook naar brood.",
    "pl": "W niedzielę rano|Po długiej zimie|W tamtych latach|Trochę później|Pod wieczór|Kiedy przestało padać"
    "#prom opuścił mały port|piekarz otworzył sklep obok kościoła|dwaj malarze weszli do starego młyna|rzeka podniosła się "
    "ponad dolny most|chór śpiewał w hali targowej|ogrodnik posadził fasolę wzdłuż muru|nauczycielka pokazała dzieciom mapę"
    "#bo wiatr wreszcie się odwrócił.|a większość miasta jeszcze spała.|i nikt się temu nie dziwił.|"
    "choć droga była jeszcze zamknięta.|żeby goście mogli zobaczyć jezioro.|i cała ulica pachniała chlebem.",
    "pt": "No domingo de manhã|Depois do longo inverno|Naqueles anos|Um pouco mais tarde|Ao fim da tarde|Quando a chuva "
    "parou#a barca saiu do pequeno porto|o padeiro abriu a loja ao lado da igreja|dois pintores subiram ao velho moinho|"
    "o rio passou por cima da ponte de baixo|um coro cantava no mercado coberto|o jardineiro plantou feijão junto ao muro|"
    "a professora mostrou um mapa às crianças"
    "#porque o vento tinha mudado enfim.|enquanto quase todos dormiam.|e ninguém achou estranho.|"
    "embora a estrada ainda estivesse fechada.|para que os convidados vissem o lago.|e a rua toda cheirava a pão.",
    "ru": "В воскресенье утром|После долгой зимы|В те годы|Немного позже|Ближе к вечеру|Когда дождь прекратился"
    "#паром вышел из маленькой гавани|пекарь открыл лавку рядом с церковью|два художника поднялись к старой мельнице|"
    "река поднялась выше нижнего моста|хор пел на крытом рынке|садовник посадил фасоль вдоль стены|учительница показала "
    "детям карту#потому что ветер наконец переменился.|пока почти весь город ещё спал.|и никто этому не удивился.|"
    "хотя дорога была ещё закрыта.|чтобы гости увидели озеро.|и вся улица пахла хлебом.",
    "sv": "På söndagsmorgonen|Efter den långa vintern|Under de åren|Lite senare|Mot kvällen|När regnet upphörde"
    "#lämnade färjan den lilla hamnen|öppnade bagaren sin butik bredvid kyrkan|gick två målare upp till den gamla kvarnen|"
    "steg floden över den nedre bron|sjöng en kör i saluhallen|planterade trädgårdsmästaren bönor längs muren|visade "
    "läraren barnen en karta#eftersom vinden äntligen hade vänt.|medan de flesta ännu sov.|och ingen tyckte det var "
    "konstigt.|fast vägen fortfarande var stängd.|så att gästerna kunde se sjön.|och hela gatan luktade bröd.",
    "tr": "Pazar sabahı|Uzun kıştan sonra|O yıllarda|Biraz daha sonra|Akşama doğru|Yağmur dinince"
    "#vapur küçük limandan ayrıldı|fırıncı kilisenin yanındaki dükkânı açtı|iki ressam eski değirmene çıktı|nehir aşağı "
    "köprünün üstüne yükseldi|bir koro çarşıda şarkı söylüyordu|bahçıvan duvar boyunca fasulye dikti|öğretmen çocuklara "
    "bir harita gösterdi#çünkü rüzgâr sonunda dönmüştü.|kasabanın çoğu daha uyurken.|ve kimse buna şaşırmadı.|"
    "yol hâlâ kapalı olduğu halde.|konuklar gölü görebilsin diye.|ve bütün sokak ekmek kokuyordu.",
    "da": "Søndag morgen|Efter den lange vinter|I de år|Lidt senere|Hen mod aften|Da regnen holdt op"
    "#forlod færgen den lille havn|åbnede bageren sin butik ved siden af kirken|gik to malere op til den gamle mølle|"
    "steg åen over den nederste bro|sang et kor i torvehallen|plantede gartneren bønner langs muren|viste læreren børnene "
    "et kort#fordi vinden endelig havde vendt sig.|mens de fleste stadig sov.|og ingen syntes det var mærkeligt.|"
    "selv om vejen endnu var lukket.|så gæsterne kunne se søen.|og hele gaden duftede af brød.",
    "fi": "Sunnuntaiaamuna|Pitkän talven jälkeen|Niinä vuosina|Vähän myöhemmin|Iltaa kohti|Kun sade lakkasi"
    "#lautta lähti pienestä satamasta|leipuri avasi kauppansa kirkon vieressä|kaksi maalaria nousi vanhalle myllylle|joki "
    "nousi alemman sillan yli|kuoro lauloi kauppahallissa|puutarhuri istutti papuja muurin viereen|opettaja näytti "
    "lapsille karttaa#koska tuuli oli viimein kääntynyt.|kun useimmat vielä nukkuivat.|eikä kukaan ihmetellyt sitä.|"
    "vaikka tie oli yhä suljettu.|jotta vieraat näkisivät järven.|ja koko katu tuoksui leivältä.",
    "ja": "日曜日の朝、|長い冬のあと、|そのころ、|少したって、|夕方になると、|雨がやむと、"
    "#渡し船が小さな港を出て|パン屋が教会のそばの店を開け|二人の画家が古い水車小屋まで歩き|川の水が下の橋を越え|合唱団が市場で歌い|"
    "庭師が塀に沿って豆を植え|先生が子どもたちに地図を見せ"
    "#やっと風の向きが変わった。|町のほとんどはまだ眠っていた。|だれも不思議に思わなかった。|道はまだ閉じたままだった。|"
    "客は湖をながめることができた。|通りじゅうにパンの香りがした。",
    "ko": "일요일 아침에|긴 겨울이 지난 뒤|그 무렵에는|조금 뒤에|저녁 무렵에|비가 그치자"
    "#나룻배가 작은 항구를 떠났고|빵집 주인이 교회 옆 가게를 열었고|두 화가가 오래된 물레방앗간으로 올라갔고|강물이 아래쪽 다리를 "
    "넘었고|합창단이 시장에서 노래했고|정원사가 담을 따라 콩을 심었고|선생님이 아이들에게 지도를 보여 주었고"
    "#마침내 바람의 방향이 바뀌었다.|마을 사람 대부분은 아직 자고 있었다.|아무도 이상하게 여기지 않았다.|길은 아직 막혀 있었다.|"
    "손님들은 호수를 볼 수 있었다.|온 거리에서 빵 냄새가 났다.",
    "zh": "星期天早上，|漫长的冬天过后，|在那些年里，|过了一会儿，|快到晚上的时候，|雨停了以后，"
    "#渡船离开了小小的港口，|面包师打开了教堂旁边的店铺，|两位画家走到了山上的老磨坊，|河水漫过了下面的桥，|合唱团在市场里唱歌，|"
    "园丁沿着墙种下了豆子，|老师给孩子们看了一张地图，"
    "#因为风终于转了方向。|而镇上大多数人还在睡觉。|没有人觉得奇怪。|虽然道路仍然关闭着。|好让客人们看见湖水。|整条街都是面包的香味。",
}
LANGUAGES = tuple(_CLAUSES)


def paragraph(language: str, sentences: int, random: Random) -> str:
    """Sentences of one language that differ from each other."""
    parts = [part.split("|") for part in _CLAUSES[language].split("#")]
    glue = "" if language in UNSPACED else " "
    drawn = zip(*(random.sample(part, sentences) for part in parts), strict=True)
    return glue.join(glue.join(clauses) for clauses in drawn)


def words(random: Random, count: int) -> list[str]:
    """Names that can be of a host, a path or a made-up person."""
    heads = "al ber cor dan el fen gar hol ist jor kas lin mar nor ost pel quin ros sten tor ul ver wes yar zin".split()
    tails = "bach by dale der feld gard holm ik land mont nes ova rick son stad ton vik wood zen".split()
    return [random.choice(heads) + random.choice("aeiou") + random.choice(tails) for _ in range(count)]
