import type { ReactElement } from 'react';
import { COUNTER_TEXTS } from '../counter/counter-texts';
import type { MerchantView } from '../merchant-view';

/** Turns the voice off and on, for this browser. Only a script speaks. */
export function VoiceSwitch({ view }: { readonly view: MerchantView }): ReactElement {
  return (
    <button type="button" className="voice" data-voice="" aria-pressed="true" hidden>
      {COUNTER_TEXTS[view.locale.language].voice}
    </button>
  );
}
