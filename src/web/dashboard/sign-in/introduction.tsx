import { Fragment, type ReactElement } from 'react';
import type { Language } from '../../../domain/sign-in';
import { Icon, IconShapes } from '../../ui/icon';
import { SIGN_IN_TEXTS } from './sign-in-texts';

/** From the scanned code to the money in the bank. */
const STEPS = ['scan', 'done', 'payouts'] as const;

/** What Lunas is, for who sees it for the first time. */
export function Introduction({ language }: { readonly language: Language }): ReactElement {
  return (
    <div className="introduction">
      <IconShapes />
      <div className="steps">
        {STEPS.map((step, index) => (
          <Fragment key={step}>
            {index > 0 && <hr aria-hidden="true" />}
            <span className="disc">
              <Icon name={step} />
            </span>
          </Fragment>
        ))}
      </div>
      <p>{SIGN_IN_TEXTS[language].introduction}</p>
    </div>
  );
}
