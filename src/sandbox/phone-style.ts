/** The style of the phone and of the codes beside it. */
export const PHONE_STYLE = `
  .pay-page { display: grid; gap: 24px; }
  @media (min-width: 760px) {
    .pay-page { grid-template-columns: 340px minmax(0, 1fr); gap: 40px; align-items: start; }
    .phone { position: sticky; top: 16px; }
  }
  .phone {
    display: flex; flex-direction: column; width: 100%; max-width: 340px; min-height: 620px; margin: 0 auto;
    padding: 12px 20px 36px; border: 10px solid var(--bezel); border-radius: 48px; position: relative;
    background: var(--card); box-shadow: 0 0 0 1px var(--line), 0 16px 40px -16px rgb(0 0 0 / 35%);
  }
  .phone::before, .phone::after { content: ''; align-self: center; border-radius: 9px; background: var(--bezel); }
  .phone::before { width: 92px; height: 22px; margin-bottom: 14px; border-radius: 99px; }
  .phone::after { position: absolute; bottom: 10px; width: 110px; height: 4px; }
  .app { display: flex; justify-content: space-between; gap: 8px; padding-bottom: 12px; }
  .app span {
    padding: 0 10px; border-radius: 99px; background: var(--amber-soft); color: var(--amber); font-size: 13px;
  }
  .screen { display: flex; flex: 1; flex-direction: column; gap: 14px; justify-content: center; }
  .screen form { margin: 0; } .screen h2 { margin: 0; font-size: 22px; line-height: 1.3; text-align: center; }
  .center { text-align: center; }
  .total {
    font-size: 32px; font-weight: 700; line-height: 1.2; text-align: center; font-variant-numeric: tabular-nums;
  }
  .screen form + .quiet { margin-top: -4px; }
  .finder {
    position: relative; display: grid; place-items: center; aspect-ratio: 1; overflow: hidden; border-radius: 20px;
    background: #0d1210;
  }
  .finder img { width: 68%; height: auto; border-radius: 8px; image-rendering: pixelated; }
  .corners { position: absolute; width: 84%; height: 84%; fill: none; stroke: #5fd3a6; stroke-width: 3;
    stroke-linecap: round; }
  .finder::after {
    content: ''; position: absolute; inset: 11% 8% auto; height: 2px; background: #5fd3a6;
    box-shadow: 0 0 12px 2px #5fd3a6;
  }
  .shop { display: grid; padding: 12px; border-radius: 12px; background: var(--soft); text-align: center; }
  .shop span { color: var(--dim); font-size: 14px; }
  .sign { width: 76px; height: 76px; margin: 0 auto; fill: none; stroke-width: 3.5; stroke-linecap: round;
    stroke-linejoin: round; }
  .sign circle { stroke: none; fill: var(--soft); } .sign path { stroke: var(--dim); }
  .sign.good circle { fill: var(--accent); } .sign.good path { stroke: var(--on); stroke-dasharray: 40; }
  .sign.bad circle { fill: light-dark(#fcebe9, #3a201d); } .sign.bad path { stroke: light-dark(#b3261e, #ffb4ab); }
  .sign.back circle { fill: light-dark(#e7f0fa, #182a3e); } .sign.back path { stroke: light-dark(#1f5fa8, #9cc7ff); }
  .paste { padding-top: 14px; font-size: 14px; }
  .paste summary { min-height: 24px; color: var(--accent); cursor: pointer; }
  .paste form { display: grid; gap: 8px; padding-top: 8px; }
  .beside { display: grid; gap: 24px; } .beside h2 { margin: 0 0 12px; }
  .codes { display: grid; gap: 12px; margin: 0; padding: 0; list-style: none; }
  .code { grid-template-columns: 72px minmax(0, 1fr) auto; gap: 14px; align-items: center; }
  .code.card img { width: 72px; height: 72px; margin: 0; } .code div { display: grid; } .code small { font-size: 13px; }
  @media (max-width: 520px) {
    .code { grid-template-columns: 72px minmax(0, 1fr); } .code .button { grid-column: 1 / -1; }
  }
  .behind dl { display: grid; margin: 0 0 12px; } .behind dt { color: var(--dim); font-size: 13px; }
  .behind dd { margin: 0 0 8px; }
  @media (prefers-reduced-motion: no-preference) {
    .finder::after { animation: scan 2.4s ease-in-out infinite alternate; }
    .sign.good { animation: grow 0.3s ease-out; } .sign.good path { animation: draw 0.4s 0.2s ease-out both; }
  }
  @keyframes scan { to { top: 88%; } }
  @keyframes grow { from { transform: scale(0.4); opacity: 0; } }
  @keyframes draw { from { stroke-dashoffset: 40; } }
`;
