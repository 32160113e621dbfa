import { createHash } from 'node:crypto';
import { FONT_FAMILY, fontFile } from '../qris/font';
import { Html } from './html';
import { PHONE_STYLE } from './phone-style';

/** An inline style or script, and its hash for the Content-Security-Policy. */
interface InlineElement {
  readonly element: Html;
  readonly source: string;
}

const FONT_WEIGHTS = [400, 600, 700] as const;
const fontAddress = (weight: number) => `/fonts/plus-jakarta-sans-${weight}.woff2`;

/** The addresses of the fonts, and their files. */
export const FONTS = FONT_WEIGHTS.map((weight) => [fontAddress(weight), fontFile('latin', weight)] as const);

const FONT_FACES = FONT_WEIGHTS.map(
  (weight) => `
  @font-face {
    font-family: '${FONT_FAMILY}'; font-weight: ${weight}; font-display: swap; src: url(${fontAddress(weight)});
  }`,
);

export const STYLE = inlineElement(
  'style',
  `${FONT_FACES.join('')}
  :root {
    color-scheme: light dark; --line: light-dark(#dde4e0, #313b36); --card: light-dark(#fff, #1a201d);
    --dim: light-dark(#4f5d56, #a9b8b0); --accent: light-dark(#0b6b4b, #5fd3a6); --on: light-dark(#fff, #06281c);
    --text: light-dark(#17211c, #eef3f0); --soft: light-dark(#ebefed, #29312d);
    --amber: light-dark(#8a5a00, #f0c060); --amber-soft: light-dark(#fcf2dc, #332a14);
    --page: light-dark(#f4f6f5, #111513); --bezel: light-dark(#17211c, #3d4943);
  }
  * { box-sizing: border-box; }
  body {
    margin: 0 auto; max-width: 1120px; padding: 0 16px 64px; font: 15px/1.5 '${FONT_FAMILY}', system-ui, sans-serif;
    background: var(--page); color: var(--text); overflow-wrap: anywhere; word-spacing: 0.1em;
  }
  .environment {
    grid-column: 1 / -1; margin: 0 calc(50% - 50vw) 16px; padding: 3px 16px; border-bottom: 1px solid var(--line);
    color: var(--amber); background: repeating-linear-gradient(-45deg, var(--amber-soft) 0 12px, var(--page) 0 24px);
    font-size: 12px; text-align: center;
  }
  .environment b { letter-spacing: 0.08em; }
  header { display: grid; grid-template-columns: 40px 1fr; gap: 0 12px; align-items: center; }
  header svg { grid-row: span 2; fill: none; stroke: #fff; stroke-width: 2.6; stroke-linecap: round; }
  header rect { fill: #0b6b4b; stroke: none; }
  h1 { font-size: 20px; margin: 0; } h2 { font-size: 16px; margin: 28px 0 12px; }
  p { margin: 0; } header p:last-child, .dim, small, label, th { color: var(--dim); } a { color: var(--accent); }
  nav { display: flex; gap: 0 4px; overflow-x: auto; margin: 12px 0 16px; border-bottom: 1px solid var(--line); }
  nav a { flex: none; padding: 10px 8px; border-bottom: 3px solid transparent; color: inherit; text-decoration: none; }
  nav [aria-current] { border-color: var(--accent); font-weight: 600; }
  .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); gap: 12px; }
  .cards + .cards { margin-top: 12px; }
  .card, .panel { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px; }
  .card { display: grid; gap: 6px; align-content: start; }
  .card img { width: 100%; max-width: 220px; margin: auto; border-radius: 8px; image-rendering: pixelated; }
  .top { display: flex; justify-content: space-between; align-items: center; gap: 8px; }
  .amount { font-size: 19px; font-weight: 650; font-variant-numeric: tabular-nums; }
  .badge {
    flex: none; padding: 2px 10px; border-radius: 99px; background: var(--soft); font-size: 12px; font-weight: 600;
  }
  .wait .badge { background: var(--amber-soft); color: var(--amber); }
  .good .badge { background: light-dark(#e2f1ea, #16362a); color: var(--accent); }
  .back .badge { background: light-dark(#e7f0fa, #182a3e); color: light-dark(#1f5fa8, #9cc7ff); }
  code { font: 13px ui-monospace, monospace; }
  button, select, input { font: inherit; padding: 8px 12px; border: 1px solid #7c8b83; border-radius: 6px; }
  button, select, input { word-spacing: inherit; }
  button { font-weight: 600; background: transparent; color: inherit; cursor: pointer; }
  .card h2 { margin: 0; } .top code { font-size: 14px; } button.late { width: 100%; }
  .button {
    padding: 8px 12px; border: 1px solid #7c8b83; border-radius: 6px; color: inherit; font-weight: 600;
    text-align: center; text-decoration: none;
  }
  .button.quiet { border-color: transparent; color: var(--accent); }
  .main { padding: 12px; border-radius: 12px; } button.main { width: 100%; }
  .main.main { background: var(--accent); border-color: var(--accent); color: var(--on); }
  button.pay { width: 100%; background: var(--accent); border-color: var(--accent); color: var(--on); }
  select, input { width: 100%; background: transparent; color: inherit; }
  :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
  .row { display: flex; gap: 12px; flex-wrap: wrap; align-items: end; }
  .halves { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)); gap: 0 16px; }
  .halves .panel, .fields { display: grid; gap: 14px; align-content: start; } .armed { display: grid; gap: 10px; }
  .fields button { justify-self: start; min-width: 120px; }
  .fields .main { width: auto; padding: 8px 12px; border-radius: 6px; }
  .armed { padding-top: 14px; border-top: 1px solid var(--line); }
  .armed ul { display: grid; gap: 6px; margin: 0; padding: 0; list-style: none; }
  .search { margin-bottom: 16px; } label { display: grid; gap: 4px; font-size: 13px; } .wide { flex: 1; }
  .number { font-variant-numeric: tabular-nums; white-space: nowrap; } table { width: 100%; border-collapse: collapse; }
  td, th { text-align: left; padding: 8px 10px 8px 0; border-top: 1px solid var(--line); font-size: 13px; }
  th { border: 0; font-weight: 500; } td, th { overflow-wrap: normal; } td > code { overflow-wrap: anywhere; }
  td a code, td.id code { white-space: nowrap; }
  tr:first-child > td { border: 0; }
  td.row { display: table-cell; } td.row form { display: inline-block; margin-right: 8px; }
  .address { width: 40%; max-width: 0; }
  .address code { display: block; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
  nav a:focus-visible { outline-offset: -3px; }
  @media (max-width: 700px) {
    nav { gap: 0; font-size: 14px; } nav a { padding: 10px 6px; }
    .records tr:first-child { display: none; }
    .records tr { display: grid; grid-template-columns: 1fr auto; gap: 2px 12px; padding: 12px 0; }
    .records tr:last-child { padding-bottom: 0; }
    .records tr + tr + tr { border-top: 1px solid var(--line); }
    .records td { display: block; padding: 1px 0; border: 0; }
    .records .id { grid-area: 1 / 1; } .records .status, .records .end { text-align: right; }
    .records .status { grid-area: 1 / 2; } .records .when { grid-area: 2 / 1; color: var(--dim); }
    .records .end { grid-area: 2 / 2; } .records .state { text-align: right; }
    .records .address, .records .row { grid-column: 1 / -1; width: auto; max-width: none; }
    .records td.row { display: flex; padding-top: 6px; } .records td.row:empty { display: none; }
    .records td:not(:empty)[data-name]::before { content: attr(data-name) ': '; color: var(--dim); }
  }
${PHONE_STYLE}`,
);

/** Refreshes the parts of the page that change; optional. A part that has the focus is not replaced. */
export const SCRIPT = inlineElement(
  'script',
  `
  setInterval(async () => {
    if (document.hidden) return;
    const response = await fetch(location.href).catch(() => undefined);
    if (!response || !response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const old of document.querySelectorAll('[data-live]')) {
      const now = fresh.getElementById(old.id);
      if (now && old.innerHTML !== now.innerHTML && !old.contains(document.activeElement)) old.replaceWith(now);
    }
  }, 2000);
`,
);

function inlineElement(name: 'style' | 'script', content: string): InlineElement {
  return {
    element: new Html(`<${name}>${content}</${name}>`),
    source: `sha256-${createHash('sha256').update(content).digest('base64')}`,
  };
}
