// Speaks what a customer has paid, where the browser has a voice of the page's language; else there is the tone.
'use strict';

{
  const STORED = 'lunas voice';
  const { lang } = document.documentElement;
  /** Browsers name Indonesian by its old code, too. */
  const names = lang === 'id' ? ['id', 'in'] : [lang];
  const findVoice = () =>
    globalThis.speechSynthesis?.getVoices().find((voice) => names.includes(voice.lang.toLowerCase().slice(0, 2)));
  // The first call only begins to load them.
  findVoice();

  /** A browser without a storage speaks. */
  const isOn = () => {
    try {
      return localStorage.getItem(STORED) !== 'off';
    } catch {
      return true;
    }
  };

  addEventListener('paid', (event) => {
    const text = document.querySelector('[data-speak]')?.textContent;
    const voice = findVoice();
    if (!text || !voice || !isOn()) return;
    event.preventDefault();
    const spoken = new SpeechSynthesisUtterance(text);
    spoken.voice = voice;
    spoken.lang = voice.lang;
    // A browser may refuse to speak before a gesture of the user.
    spoken.addEventListener('error', () => playSound());
    speechSynthesis.cancel();
    speechSynthesis.speak(spoken);
  });

  const show = () => {
    for (const button of document.querySelectorAll('[data-voice]')) {
      button.hidden = false;
      button.setAttribute('aria-pressed', String(isOn()));
    }
  };
  addEventListener('click', ({ target }) => {
    if (!target.closest?.('[data-voice]')) return;
    try {
      localStorage.setItem(STORED, isOn() ? 'off' : 'on');
    } catch {
      // The switch stays as it is.
    }
    show();
  });
  // A part of the page that was read again has a new switch.
  new MutationObserver(show).observe(document.querySelector('main'), { childList: true, subtree: true });
  show();
}
