import type { ReactElement } from 'react';

interface PasskeyButtonProps {
  readonly action: string;
  readonly label: string;
  readonly returnPath: string;
}

/** The script of the page shows it if the browser has passkeys. */
export function PasskeyButton({ action, label, returnPath }: PasskeyButtonProps): ReactElement {
  return (
    <form id="passkey" method="post" action={action} data-needs-passkey="" hidden>
      <input type="hidden" name="then" value={returnPath} />
      <div className="buttons">
        <button className="button wide-button">{label}</button>
      </div>
    </form>
  );
}
