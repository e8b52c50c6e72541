"""Web pages for the tests of `spanwise inspect`: one with every element, a hostile one, one of Confluence."""

from __future__ import annotations

WORDS = "Ein Satz mit 😀 und Wörtern steht hier. Noch einer, z. B. dieser. "
MIXED = f"""<!doctype html><html lang="de"><head><title>Mixed</title><style>main {{ width: 90% }}</style></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/a">Travel rates</a></li></ul></nav>
<main><h1>Wörter &amp; mehr</h1>
<p>{WORDS * 6}<b>Fett</b>er Text, <em>betont</em>, <code>a*b_c</code> und <a href="https://example.org/x_y">ein
Verweis</a>.<sup><a href="#f1">[1]</a></sup> Soft&shy;hyphen, hard&nbsp;space, 1&nbsp;&lt; 2, \\*kein Stern\\*.</p>
<div>Loser Text am Anfang.<br>Zweite Zeile.<br><br>Dritter Absatz. <p>Ein Absatz.</p> Text danach.</div>
<ul><li>eins<ul><li>innen eins</li><li>innen zwei<ol><li>tief</li></ol></li></ul>nach der Liste</li>
<li><p>zwei</p><p>noch ein Absatz</p></li></ul>
<dl><dt>Begriff</dt><dd>Erklärung mit {WORDS}</dd><dt>Zweiter</dt><dd>Noch eine.</dd></dl>
<table><caption>Preise</caption><thead><tr><th rowspan="2">Stadt</th><th colspan="2">Kosten</th></tr>
<tr><th>Essen</th><th>Hotel</th></tr></thead><tbody>
{"".join(f"<tr><td>Łódź {n}</td><td>{n} €</td><td><p>{n * 3}</p><p>a|b</p></td></tr>" for n in range(25))}
</tbody></table>
<pre>
<code class="language-python">{
    "".join(f"<span>value_{n}</span> = '{n}'  # 日本 &lt;b&gt;" + chr(10) for n in range(20))
}</code></pre>
<div class="confluence-information-macro confluence-information-macro-tip"><p class="title">Tipp</p>
<div class="confluence-information-macro-body"><p>Multiple Dinge hier tippen.</p></div></div>
<blockquote><p>Ein Zitat.</p><p>Zwei Absätze.</p></blockquote>
<figure><img src="https://example.org/a.png" alt="Bild" width="80" height="40">
<figcaption>Ein Bild &lt;x&gt; 図</figcaption></figure>
<details><summary>Mehr</summary><p>Was darin steht. {WORDS}</p></details>
<p>今日は天気がいい。明日は雨が降るでしょう。{"今日は天気がいい。" * 20}</p><p dir="rtl">שלום עולם. مرحبا بالعالم.</p>
<p>Er sagte <q>Hallo</q>. <svg width="90" height="20"><text x="0" y="15">gemalt</text></svg></p>
<h2>Wörter &amp; mehr</h2><p>{WORDS}</p><p>{WORDS}</p><p>Ende.</p>
</main><footer>Impressum und Rechtliches</footer></body></html>"""
HOSTILE = """<!doctype html><html onload="parent.hit=1"><head><base href="https://evil.example/">
<meta http-equiv="refresh" content="0;url=https://evil.example/r">
<link rel="stylesheet" href="https://evil.example/s.css">
<link rel="preconnect" href="https://evil.example"><link rel="dns-prefetch" href="//evil.example">
<style>@import "https://evil.example/i.css"; @font-face { font-family: x; src: url(https://evil.example/f.woff) }
body { font-family: x; background: url(https://evil.example/b.png) } html, body { z-index: 99999 !important }
#cover { position: fixed; inset: -5000px; z-index: 2147483647; background: #fff; width: 90000px; height: 90000px
}</style>
<script>parent.hit = 1; top.location = "https://evil.example/"</script></head>
<body onload="parent.hit=1" onpageshow="parent.hit=1" style="background-image: url('https://evil.example/c.png')">
<div id="cover"></div><form id="form" action="https://evil.example/f" name="body"><input name="firstChild">
<input name="append" id="attributes">
<input name="nodeType" autofocus onfocus="parent.hit=1"><button formaction="javascript:parent.hit=1">Send</button>
</form>
<img name="createElementNS" src=x onerror="parent.hit=1">
<img src="https://evil.example/p.png" srcset="https://evil.example/q.png 2x">
<img name="documentElement" src="javascript:parent.hit=1"><iframe srcdoc="<script>top.hit=1</script>"></iframe>
<iframe src="https://evil.example/"></iframe><object data="https://evil.example/o"></object>
<embed src="https://evil.example/e">
<svg onload="parent.hit=1"><script>parent.hit=1</script><a xlink:href="javascript:parent.hit=1">
<text y="10">drawn</text></a>
<use href="https://evil.example/u#x"/><image href="https://evil.example/i.png"/>
<animate attributeName="href" to="javascript:parent.hit=1"/>
<foreignObject><iframe srcdoc="<script>top.hit=1</script>"></iframe><p onclick="parent.hit=1">foreign</p>
</foreignObject></svg>
<math><mtext><img src=x onerror="parent.hit=1"></mtext></math>
<video src="https://evil.example/v" autoplay poster="https://evil.example/w.png" onerror="parent.hit=1"></video>
<a[b onclick="parent.hit=1">odd name</a[b><details open ontoggle="parent.hit=1">
<summary>More</summary>inside</details>
<p>Words before &lt;/script&gt;&lt;script&gt;parent.hit=1&lt;/script&gt; &lt;/iframe&gt; "&gt;&lt;img
src=x onerror=parent.hit=1&gt; after.</p>
<p>
<a href="javascript:parent.hit=1" target="_top" ping="https://evil.example/ping">a link</a> <a
href="https://evil.example/" target="_blank">out</a></p>
<p style="position: fixed; top: 0; left: 0; width: 100vw; height: 100vh; background:
url(//evil.example/d.png)">Covering words.</p>
</body></html>"""
STORED = (
    '<h1>Rates</h1><p>Meals are paid by the day.</p><ac:structured-macro ac:name="info"><ac:rich-text-body>'
    "<p>Keep receipts.</p></ac:rich-text-body></ac:structured-macro>"
)
RENDERED = (
    '<h1 id="x">Rates</h1><p>Meals are paid by the day.</p><div class="confluence-information-macro"><div>'
    "<p>Keep receipts.</p></div></div>"
)
