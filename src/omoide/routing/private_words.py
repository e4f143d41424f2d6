"""Words of private life: a message that contains them mostly belongs to no project, unless a project uses them. Pure."""

import re

from omoide.compiled_patterns import load_pattern

_ENGLISH = """
kid kids child children son daughter baby toddler wife husband girlfriend boyfriend fiance mom mum mother dad father parents
grandma grandpa grandmother grandfather grandparents sister brother cousin aunt uncle nephew niece family friend friends
buddy roommate flatmate neighbor neighbors neighbour neighbours landlord landlady dog cat puppy kitten hamster
bike bicycle motorbike apartment garden backyard kitchen bathroom bedroom closet sofa fridge basement furniture
breakfast lunch dinner supper snack recipe recipes cook cooking bake baking fry boil soup salad rice egg eggs cake bread
coffee cocktail beer wine restaurant cafe grocery groceries supermarket diet vegetarian vegan gym yoga jogging
doctor dentist hospital pharmacy medicine fever cough headache toothache allergy flu pregnant insomnia
birthday wedding anniversary christmas halloween easter funeral gift vacation holidays trip travel sightseeing
flight hotel airbnb beach camping passport suitcase weather sunny umbrella movie movies film novel museum
guitar piano concert podcast football soccer tennis hobby knitting haircut shoes jacket laundry garage
rent mortgage pension divorce lawyer homework kindergarten university horoscope lottery
"""
_OWN_ENGLISH = (
    "car house home flat ex boss pet school job salary book phone laptop router weight hair teacher club band class"
)
"""Words that are private only where somebody calls them their own."""
_JAPANESE = """
娘 息子 子ども 子供 赤ちゃん 妻 嫁 夫 旦那 彼女 彼氏 母 父 両親 祖母 祖父 兄 弟 姉 妹 甥 姪 友達 友人 友だち 家族 親戚 隣人
近所 大家 町内会 自治会 実家 自宅 マンション アパート 台所 風呂 冷蔵庫 洗濯機 家電 エアコン 猫 犬 ペット 金魚
料理 レシピ 朝食 昼食 夕食 夕飯 朝飯 昼飯 晩飯 ごはん ご飯 弁当 献立 おかず おやつ 卵 野菜 味噌汁 ラーメン
カレー パスタ ケーキ ビール ワイン 居酒屋 レストラン カフェ 外食 ダイエット 筋トレ ヨガ 歯医者 風邪 頭痛
腰痛 肩こり 花粉症 妊娠 出産 誕生日 結婚 ご祝儀 香典 葬式 法事 クリスマス 正月 年賀状 お年玉 飲み会 二次会 幹事
割り勘 プレゼント お土産
旅行 温泉 飛行機 新幹線 観光 紅葉 花見 花火 パスポート 天気 傘 映画 ドラマ アニメ 漫画 小説 カラオケ ギター ピアノ
サッカー 野球 将棋 囲碁 釣り キャンプ 趣味 習い事 美容院 化粧 靴 車検 免許 自転車 バイク 引っ越し 引越し 家賃 賃貸
住宅ローン 確定申告 年金 ふるさと納税 家計簿 貯金 離婚 転職 就活 履歴書 手紙 敬語 宿題 自由研究 小学校 中学 高校
受験 保育園 幼稚園 塾 占い 自分用 個人的 自作
"""
_HAN = "一-鿿々"
_ONE_CHARACTER = "".join(word for word in _JAPANESE.split() if len(word) == 1)
_LONGER = "|".join(word for word in _JAPANESE.split() if len(word) > 1)
_PATTERN = load_pattern(
    rf"\b(?:{'|'.join(_ENGLISH.split())})\b|(?<=\bmy )(?:\w+ )?(?:{'|'.join(_OWN_ENGLISH.split())})\b"
    r"|\b(?:at home|for fun|(?:spare|free) time|just curious|personally|side project)\b"
    rf"|{_LONGER}|(?<![{_HAN}])[{_ONE_CHARACTER}](?![{_HAN}])|(?<![{_HAN}])(?:家|隣|部屋|車)[のでに]|うちの[{_HAN}]",
    re.I,
)


def find_private_words(text: str) -> tuple[str, ...]:
    """Return the words of private life in a text, each once. A word of one Chinese character must stand alone."""
    return tuple(dict.fromkeys(match[0].lower() for match in _PATTERN.finditer(text)))
