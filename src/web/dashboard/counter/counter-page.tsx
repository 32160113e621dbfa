import { randomUUID } from 'node:crypto';
import type { ReactElement } from 'react';
import { formatDigits, formatRupiah } from '../../../domain/money';
import { DEFAULT_PROVIDER } from '../../../domain/provider-capabilities';
import type { OwnTerms } from '../../../services/payments/create/create-own-payment';
import { sentField } from '../../page/sent-field';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, Notice, PageHead } from '../../ui/layout';
import { COUNTER_FILES } from '../files';
import type { FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import { homePath, merchantRejection } from '../merchant-view';
import { NumberKeys } from '../payments/number-keys';
import { ProviderChoices } from '../payments/provider-choices';
import { VoiceSwitch } from '../payments/voice-switch';
import { counterPath, shiftPath, workerPath } from './counter-paths';
import { COUNTER_TEXTS } from './counter-texts';
import { CounterToday, type TakenToday } from './counter-today';

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '00', '0', '000', 'delete'] as const;

interface CounterPage extends FormPage<OwnTerms>, TakenToday {
  /** What the member usually enters. */
  readonly habits: { readonly amounts: readonly number[]; readonly provider: string | null };
}

export function renderCounterPage(page: CounterPage): string {
  const { view } = page;
  return renderMerchantPage(view, {
    title: COUNTER_TEXTS[view.locale.language].title,
    current: 'counter',
    live: 'poll',
    isApp: true,
    ...COUNTER_FILES,
    children: <Counter {...page} />,
  });
}

function Counter(page: CounterPage): ReactElement {
  const { view, errors, rejection, problem } = page;
  const texts = COUNTER_TEXTS[view.locale.language];
  const closed = merchantRejection(view);
  const why = problem ?? (rejection === closed ? null : rejection);
  return (
    <div className="counter">
      <PageHead title={texts.title}>
        <VoiceSwitch view={view} />
        <a className="button" href={shiftPath.to(view)}>
          {texts.shift.title}
        </a>
      </PageHead>
      <div className="stack">
        {why !== null && (
          <Notice tone="bad">
            <p>{why}</p>
          </Notice>
        )}
        <ErrorSummary title={view.texts.create.errorTitle} errors={errors} />
        <div className="counter-parts">
          <Card>
            <UsualAmounts {...page} isClosed={closed !== null} />
            <AmountForm {...page} isClosed={closed !== null} />
          </Card>
          <CounterToday {...page} />
        </div>
      </div>
    </div>
  );
}

type CounterForm = CounterPage & { readonly isClosed: boolean };

/** Each one makes a payment, in a form of its own: Enter in the field of the amount must not choose one. */
function UsualAmounts(page: CounterForm): ReactElement | null {
  const { view, habits, isClosed } = page;
  if (habits.amounts.length === 0) return null;
  return (
    <form className="usual" method="post" action={counterPath.to(view)}>
      <input type="hidden" name="form_id" value={randomUUID()} />
      <input type="hidden" name="provider" value={chosenOf(page)} />
      <p className="dim small">{COUNTER_TEXTS[view.locale.language].usual}</p>
      <div>
        {habits.amounts.map((rupiah) => (
          <button
            key={rupiah}
            className="button"
            name="amount"
            value={rupiah}
            aria-label={formatRupiah(rupiah)}
            disabled={isClosed}
          >
            {formatDigits(rupiah)}
          </button>
        ))}
      </div>
    </form>
  );
}

/** The script shows the keys, installs the worker, and repeats a form whose response was lost under the same id. */
function AmountForm(page: CounterForm): ReactElement {
  const { view, formId, sent, isClosed } = page;
  const texts = COUNTER_TEXTS[view.locale.language];
  return (
    <form
      className="amount-form"
      method="post"
      action={counterPath.to(view)}
      data-worker={workerPath.to({})}
      data-scope={`${homePath.to(view)}/`}
      data-sent={sent === null ? undefined : ''}
    >
      <input type="hidden" name="form_id" value={formId} />
      <Field {...sentField('amount', page)} label={texts.amount} inputMode="numeric" autoComplete="off" prefix="Rp" />
      <NumberKeys view={view} keys={KEYS} isEverywhere />
      <ProviderChoices {...page} providers={page.subject.providers.map((name) => ({ name }))} chosen={chosenOf(page)} />
      <button className="button primary" disabled={isClosed}>
        {texts.show}
      </button>
    </form>
  );
}

/** What was sent, else the one of the newest payment, else the first. */
function chosenOf({ sent, habits, subject: { providers } }: CounterPage): string {
  const wanted = [sent?.provider, habits.provider, DEFAULT_PROVIDER];
  return providers.find((name) => name === wanted.find(Boolean)) ?? providers[0] ?? DEFAULT_PROVIDER;
}
