"""English and Japanese words for the same thing: a message may be written in another language than its project. Pure.

Common words of software, business and daily life. Names of products are the same in both languages.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from omoide.retrieval import analyzer

_WORDS = """
サーバー サーバ=server; クライアント=client; データベース=database; テーブル=table; クエリ=query; スキーマ=schema
インデックス=index; マイグレーション 移行=migration migrate; パイプライン=pipeline; バッチ=batch; ジョブ=job
キュー=queue; ワーカー=worker; スレッド=thread; プロセス=process; コンテナ=container; クラスタ クラスター=cluster
ノード=node; ポッド=pod; ゲートウェイ=gateway; プロキシ=proxy; デプロイ 配備=deploy deployment
リリース 公開=release publish; ロールバック=rollback; ビルド=build; コンパイル=compile; パッケージ=package
依存=dependency; ライブラリ=library; フレームワーク=framework; プラグイン=plugin; モジュール=module
コンポーネント=component; インターフェース=interface; エンドポイント=endpoint; ルーティング=routing route
リクエスト=request; レスポンス=response; ヘッダー=header; クッキー=cookie; セッション=session; トークン=token
ログイン=login signin; ログアウト=logout; パスワード=password; 認証=authentication; 認可=authorization
権限 許可=permission; 暗号 暗号化=encryption encrypt; ハッシュ=hash; 証明書=certificate; 鍵=key; 署名=signature
キャッシュ=cache; メモリ=memory; ディスク=disk; ストレージ=storage; バックアップ=backup; 復元=restore; 同期=sync
並列=parallel; 非同期=async; タイムアウト=timeout; リトライ 再試行=retry; エラー 誤り=error; 例外=exception
クラッシュ=crash; バグ 不具合=bug; デバッグ=debug; テスト=test; カバレッジ=coverage; モック=mock
スナップショット=snapshot; レビュー=review; マージ=merge; ブランチ=branch; コミット=commit; リポジトリ=repository
ワークフロー=workflow; アラート 警報=alert; 監視=monitoring monitor; メトリクス 指標=metric; ログ=log
ダッシュボード=dashboard; グラフ=graph chart; レポート 報告書=report; 集計=aggregate aggregation; 統計=statistics
通知=notification notify; 設定=setting configuration; 環境変数=environment; 変数=variable; 引数=argument; 関数=function
文字列=string; 整数=integer; 配列=array; 浮動小数=float; 正規表現=regex; 構文 文法=syntax grammar; 式=expression formula
フィルタ フィルター=filter; パーサー 解析=parser parse; 並び替え ソート=sort; 検索=search; 絞り込み=filter
ページネーション=pagination; 一覧=list listing; 詳細=detail; 重複=duplicate; 冪等=idempotent; タイムスタンプ=timestamp
タイムゾーン 時間帯=timezone; 日時=datetime; 文字コード=encoding; 改行=newline; 先頭=leading; 桁=digit; 列=column
行=row line; ファイル=file; フォルダ=folder; ディレクトリ=directory; パス=path; アップロード=upload
ダウンロード=download; インストール=install; 圧縮=compress; コマンド=command; ターミナル 端末=terminal; シェル=shell
スクリプト=script; オプション フラグ=option flag; 標準入力=stdin; パイプ=pipe; 終了コード=exit; 画面=screen
ボタン=button; フォーム=form; 入力=input; メニュー=menu; アイコン=icon; フォント 文字サイズ=font; 色=colour color
余白=margin padding; レイアウト=layout; デザイン=design; テーマ=theme; スタイル=style; アニメーション=animation
バナー=banner; 画像=image; 写真=photo picture; 動画=video; 音声 音=audio sound; 音楽 曲=music; 読み上げ=speech; 声=voice
翻訳=translation; 言語=language; 文言 文章 文面=text wording; 見出し=heading headline; 原稿 下書き=draft manuscript
記事=article post; ブログ=blog; 投稿=post; コメント=comment; 著者 筆者 書き手=author writer; 編集=edit editor
用語 用語集=glossary term; 目次=contents; 索引=index; 図=figure diagram; 表=table; 論文=paper; 査読=reviewer
引用=citation; 実験=experiment; 研究=research; 学習 訓練=training train; 精度=accuracy; 分類=classification class
推論=inference; モデル=model; データセット=dataset; ラベル=label; 特徴量=feature; 重み=weight; 損失=loss
評価=evaluation metric; 検証=validation; 過学習=overfit; 乱数=random randomness; シード=seed; 平均=mean average
分散=variance; 標準偏差=deviation; 確率=probability; ベースライン=baseline; チェックポイント=checkpoint
水増し データ拡張=augmentation; アプリ=app; モバイル 携帯 スマホ=mobile phone; ウェブ=web; サイト=site; ページ=page
リンク=link; ブラウザ=browser; 管理=management admin; 管理画面=admin; ユーザー 利用者=user; 会員=member membership
お客様 お客さん 顧客 客=customer; 取引先=client; 店 店舗 ショップ=store shop; 通販 ネットショップ=shop storefront
商品 製品=product item; 在庫=stock inventory; 注文=order; 予約=booking reservation appointment; 購入=purchase buy
カート かご=cart; 決済 支払い 支払=payment; 課金 請求=billing charge; 請求書=invoice; 領収書=receipt; 返金=refund
返品=return; 割引=discount; クーポン=coupon; 値段 価格=price; 税 税率 消費税=tax vat; 送料 配送=shipping
発送 出荷=shipment; 配達=delivery; 宅配=courier; 住所=address; 倉庫=warehouse; 梱包 包装=wrapping packaging
ギフト 贈り物=gift; 定期便 定期購入 購読 サブスク=subscription; 解約=cancel; 契約=contract; 売上 売り上げ=sales
利益=profit; 費用 コスト=cost; 予算=budget; 会計=accounting; 会計年度 年度=fiscal; 経費=expense; 精算=reimbursement
給与 給料=salary payroll; 経理=accounting; 税込=gross; 円=yen; 端数=rounding; 会社=company; 社内=internal
社員 従業員=employee; 新入社員 新人=newcomer hire; 入社=onboarding; 人事=hr; 総務=administration
規程 規定=regulation policy; 勤務=work; 在宅 在宅勤務 リモート=remote; 休暇 有給=vacation leave; 出張=trip
会議 打ち合わせ=meeting; 承認=approval approve; 担当=responsible; 上司=boss; ハンドブック 手引き=handbook
マニュアル 手順書=manual; 手順=procedure; チェックリスト=checklist; 研修=training; 採用=hiring; 面接=interview
病院=hospital; 診療所 クリニック=clinic; 歯科 歯医者 歯=dental dentist tooth; 医師 医者=doctor; 院長=director
患者=patient; 衛生士=hygienist; 看護=nurse; 診察 診療=consultation treatment; 治療=treatment; 薬=medicine
病気 病=disease; 症状=symptom; 休診=closed; 診療台=chair; 受付=reception; 検査=examination; 無断キャンセル=noshow
キャンセル 取り消し 取消=cancel cancellation; リマインド リマインダー=reminder; 枠=slot; 空き=available
重なる 二重=double overlap; 電話=phone; 番号=number; 氏名 名前=name; 連絡先=contact; メール=mail email
メッセージ=message; 通=message; 上限 制限=limit; 無料=free; 残り 残数=remaining quota; 地図=map; 位置 位置情報=location
測位=gps; 経路 ルート=route; 記録=record recording; 軌跡=track; 距離=distance; 標高 高度=elevation altitude
緯度=latitude; 山=mountain; 登山 山登り ハイキング=hiking climbing mountain; 登山者=hiker climber; 下山=descent
尾根=ridge; 山小屋=hut; 登山届 登山計画書=plan; 圏外 オフライン=offline; 電池 バッテリー=battery; 充電=charge
バックグラウンド=background; 許可=permission; タイル=tile; 配布=distribution; テスター=tester; 天気=weather; 雨=rain
雪=snow; 走る 走行=run running; ランニング=running runner; ランナー=runner; マラソン=marathon
練習 トレーニング=training workout; 運動=exercise; 心拍 心拍数=heart pulse; 計画 プラン=plan; 週 週間=week weekly
月 月額=month monthly; 年額=yearly; 毎日 日替わり=daily; 区間=interval lap; 速度 ペース=pace speed; 走行距離=mileage
時計 ウォッチ=watch; センサー=sensor; 体重=weight; 睡眠=sleep; 目標=goal; コーチ=coach; 試合=match; 選手=player athlete
農園 農場 農家=farm farmer; 畑=field; ハウス 温室 ビニールハウス=greenhouse house; 土 土壌=soil; 水分=moisture
水やり 灌水=irrigation watering; 温度 気温=temperature; 湿度=humidity; 弁 バルブ=valve; 葉=leaf leaves; 作物=crop
植物 苗=plant; トマト=tomato; 収穫=harvest; 肥料=fertilizer; さび病=rust; うどんこ病=mildew; 健康 健全=healthy
ファームウェア=firmware; マイコン=microcontroller; 基板=board; ピン=pin; 電圧=voltage; 電源=power; 電流=current
消費電力=power; スリープ=sleep; 起動=boot startup; 無線 電波=radio wireless; 送信=send transmit; 受信=receive
計測 測定=measure measurement; 校正=calibration; 値=value reading; 単位=unit; 書き込み=flash write; 更新=update
ゲーム=game; プレイヤー=player; 敵=enemy; ボス=boss; 武器=weapon; 体力=health; 魔法=magic; ダンジョン 迷宮=dungeon
階 階層 フロア=floor level; 階段=stairs; 部屋=room; 洞窟=cave; 壁=wall; 地形 マップ=map terrain
生成=generate generation; ターン 手番=turn; セーブ=save; 難易度=difficulty; 実績=achievement; ドット絵=pixel sprite
灯り 明かり 光=light; 暗闇 闇=dark darkness; 灯台=lighthouse; ランタン 提灯=lantern; 油 オイル=oil
幽霊 亡霊=ghost wraith; 道具 アイテム=item; 強化=upgrade; 解放=unlock; 体験版 デモ=demo; 毛糸 糸=yarn
編み物 編む=knitting knit; 編み図=pattern; 型紙 パターン=pattern; 針=needle; 布 生地=fabric; 染め 染色=dye; ロット=lot
服=clothes; お茶 茶 新茶=tea; 抹茶=matcha; コーヒー=coffee; 料理=cooking; 食品 食べ物=food; 飲み物=drink; 酒=sake
野菜=vegetable; 魚=fish; 肉=meat; 菓子=sweets; パン=bread; レシピ=recipe; 家具=furniture; 本=book; 学校=school
大学=university; 先生=teacher professor; 生徒 学生=student; 授業=lesson class; 宿題=homework; 試験=exam; 成績=grade
図書館=library; 辞書=dictionary; 銀行=bank; 口座=account; 送金=transfer; 為替=exchange; 株 株式=stock; 保険=insurance
融資 ローン=loan; 資産=asset; 取引=transaction trade; 監査=audit; 法律 法務=legal law; 旅行=travel; ホテル 宿=hotel
飛行機=flight; 空港=airport; 電車 列車=train; 駅=station; 車 自動車=car; 自転車=bike bicycle; 道路=road; 駐車=parking
交通=traffic; 港=port; 船=ship; 家=house home; 部品=part; 工場=factory; 機械=machine; 修理=repair; 電気=electricity
水道=water; 工事 建設=construction; 建物=building; 不動産=estate; 賃貸=rent; ネットワーク=network; ドメイン=domain
ファイアウォール=firewall; 負荷=load; 負荷分散=balancer; 冗長=redundant; 障害=outage incident; 本番=production prod
検証環境 ステージング=staging; アカウント=account; タグ=tag; シークレット 秘密 機密=secret; 状態 ステート=state
ロック=lock; モジュール名=module; リソース=resource; インスタンス=instance; 料金=bill cost; クラウド=cloud
テラフォーム=terraform; クーバネティス=kubernetes; ドッカー=docker; パーティション=partition; スキャン=scan
取り込み 取込=import ingest load; 書き出し 出力=export output; 遅延 遅れ=late delay; 夜間 毎晩=nightly night; 朝=morning
閉店=closing; 経営=executive management; 倉=warehouse; 集約=aggregate; 欠損=missing; 異常=anomaly; 件数=count; 行数=rows
前日比=change; アーカイブ=archive; アーキテクチャ=architecture; アクセス=access; アクション=action
アサーション=assertion; アダプター=adapter; アップグレード=upgrade; アップデート=update; アドレス=address
アノテーション=annotation; アルゴリズム=algorithm; アンケート=survey questionnaire; イベント=event; イメージ=image
インシデント=incident; インターバル=interval; インフラ=infrastructure; インポート=import; エクスポート=export
エディタ エディター=editor; エミュレータ=emulator; エンコード=encode encoding; エンジン=engine; エントリ=entry
オートスケール=autoscaling; オーバーフロー=overflow; オブジェクト=object; オペレーター=operator; カーネル=kernel
カーソル=cursor; ガイド=guide; カウンター カウンタ=counter; カスタム=custom; カタログ=catalogue catalog
カテゴリ カテゴリー=category; カメラ=camera; カレンダー=calendar; キャンペーン=campaign; キーボード=keyboard
クエスト=quest; クラス=class; グループ=group; クレジットカード=card; クローン=clone; クロール=crawl; コール=call
コピー=copy; コレクション=collection; コンソール=console; コンテキスト=context; コントローラ コントローラー=controller
コンパイラ=compiler; サムネイル=thumbnail; サンドボックス=sandbox; サンプル=sample; シェーダー=shader
シミュレーション=simulation; シリアル=serial; スキル=skill; スクロール=scroll; スケール=scale; スコア=score
スタック=stack; ステータス=status; ステップ=step; ストリーム ストリーミング=stream streaming; スパイク=spike
スプリント=sprint; スポット=spot; スライド=slide; スワイプ=swipe; セキュリティ=security; セグメント=segment; セル=cell
ソース=source; ソルト=salt; タイマー=timer; タイミング=timing; タイムライン=timeline; ダイアログ=dialog; タブ=tab
ダミー=dummy; チャット=chat; チャンネル=channel; チュートリアル=tutorial; チェックアウト=checkout; ツールチップ=tooltip
ディスプレイ=display; ディープスリープ=deep; テンプレート 雛形 ひな形=template; データ型=type; デーモン=daemon
デコード=decode; デバイス=device; デフォルト=default; ドキュメント 文書=document documentation; トピック=topic
トラフィック=traffic; トランザクション=transaction; トリガー=trigger; ドライバ ドライバー=driver; ネイティブ=native
バージョン=version; ハードウェア=hardware; バイト=byte; バイナリ=binary; パイロット=pilot; バッファ=buffer
パフォーマンス 性能=performance; パラメータ パラメーター=parameter; バランス=balance; バリデーション=validation validate
パレット=palette; ハンドラ ハンドラー=handler; ピクセル=pixel; ビジネス=business; ヒストグラム=histogram; ビュー=view
フィード=feed; フィードバック=feedback; フィールド=field; フェイルオーバー=failover; フォーマット 書式=format
フォールバック=fallback; フック=hook; ウェブフック=webhook; プッシュ通知=push; プライバシー=privacy; プレビュー=preview
フレーム=frame; プロバイダ=provider; プロパティ=property; プロフィール=profile; プロジェクト=project
プロトコル=protocol; プロトタイプ=prototype; フロントエンド=frontend; バックエンド=backend; ペイロード=payload
ベクトル=vector; ヘルスチェック=health; ベンチマーク=benchmark; ホスト=host; ポート=port; ポイント=point
ポリシー=policy; マーカー=marker; マウス=mouse; マクロ=macro; マスター=master; マップ=map; ミドルウェア=middleware
ミラー=mirror; ミーティング=meeting; メタデータ=metadata; メソッド=method; メンター=mentor
メンテナンス 保守=maintenance; モーダル=modal; モニター=monitor; ユニット=unit; ユニットテスト 単体テスト=unit
ライセンス=license; ライト=light; ライフサイクル=lifecycle; ライン=line; ラグ=lag; ランキング=ranking
ランタイム=runtime; リアルタイム=realtime; リスク=risk; リスト=list; リダイレクト=redirect; リビジョン=revision
リファクタリング=refactor; リモート=remote; リリースノート=changelog; ループ=loop; レイヤー 層=layer; レイテンシ=latency
レート制限=throttle limit; レコード=record; レジストリ=registry; レプリカ=replica; レンダリング 描画=render rendering
ロードマップ=roadmap; ロール=role; ロケール=locale; 付加価値税=vat; 県警 警察=police; 国=country; 都道府県=prefecture
市=city; 祝日 休日=holiday; 平日=weekday; 曜日=weekday; 締め切り 締切 期限=deadline expire; 有効期限=expire expiry
期間=period; 印刷=print printer; 印刷機=printer; 文字化け=garbled encoding; 旧字体=character; 文字=character
大文字=uppercase; 小文字=lowercase; 適用=apply; 反映=apply reflect; 再生成=regenerate revalidate; 再学習=retrain
混ざる 混在=mix; 株=plant; 個体=plant; 断面=slice; 傾き=slope; 誤差=error; 外れ値=outlier; 平滑化=smoothing smooth
補正=correction correct; 単純=simple; 開発環境=development; 開発=development; 要件=requirement; 仕様=specification
設計=design architecture; 実装=implementation implement; 修正=fix; 削除=delete; 追加=add; 変更=change; 保存=save store
読み込み=load read; 表示=display show; 退職=resign; 育休=leave; 健康診断=checkup; 福利厚生=benefit; 組織=organization
部署=department; 契約書=contract; 見積 見積もり=estimate quote; 納品=delivery; 発注=order; 仕入れ=purchase
棚卸し=inventory; 配信=delivery streaming; 放送=broadcast; 録音=recording; 撮影=shoot photo; 字幕=subtitle
再生=playback play; 楽譜=score; 展示=exhibition; 美術=art; 絵=drawing art; 漫画=manga comic; 小説=novel; 血圧=pressure
体温=temperature; 予防接種=vaccine; 処方=prescription; 保険証=insurance; 救急=emergency; 介護=care; 妊娠=pregnancy
子供=child; 家族=family; 犬=dog; 猫=cat; 動物=animal; 鳥=bird; 天候=weather; 台風=typhoon; 地震=earthquake
災害=disaster; 海=sea ocean; 川=river; 湖=lake; 森=forest; 島=island; 道=trail path; 登山道=trail; 頂上 山頂=summit peak
遭難=rescue; 水位=level; 風=wind; 日照=sunlight
"""


@cache
def translations() -> Mapping[str, Sequence[str]]:
    """Return the words of the other language for each word: Japanese as it is written, English by its stem."""
    found: dict[str, list[str]] = {}
    for entry in _WORDS.replace("\n", ";").split(";"):
        if not entry.strip():
            continue
        japanese, english = (side.split() for side in entry.split("="))
        for word in japanese:
            found.setdefault(word, []).extend(analyzer.stem(each) for each in english)
        for word in english:
            found.setdefault(analyzer.stem(word), []).extend(japanese)
    return {word: tuple(dict.fromkeys(others)) for word, others in found.items()}
