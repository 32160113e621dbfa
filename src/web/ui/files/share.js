// Shares a link, where the device can. Its choice of apps gets it, and no server does.
'use strict';

for (const button of document.querySelectorAll('[data-share]')) {
  button.hidden = navigator.share === undefined;
  button.addEventListener('click', () => {
    // The user may close the choice.
    navigator.share({ url: button.dataset.share }).catch(() => undefined);
  });
}
