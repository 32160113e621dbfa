import type { ReactElement } from 'react';
import type { Language } from '../../domain/sign-in';

/** The name of an environment, and what it means to a customer or a member. */
export interface EnvironmentTexts {
  readonly name: string;
  readonly explanation: string;
}

/** The environment without real money. */
export const SANDBOX_TEXTS: Readonly<Record<Language, EnvironmentTexts>> = {
  id: { name: 'SANDBOX', explanation: 'Bukan uang sungguhan' },
  en: { name: 'SANDBOX', explanation: 'No real money' },
};

/** The bar above each page of an environment. */
export function EnvironmentBar({ name, explanation }: EnvironmentTexts): ReactElement {
  return (
    <aside className="environment" aria-label={name}>
      <b>{name}</b>
      <span>{explanation}</span>
    </aside>
  );
}
