import type { ReactElement } from 'react';
import { renderDocument } from '../document';
import { OUTCOME_ICONS, type OutcomeIcon } from '../icons';
import { Disc } from '../outcome';
import { Contact, Merchant, shownLogo } from '../shop';
import { formatRupiah, formatTimestamp } from '../texts';
import { Watermark } from '../watermark';
import type { LinkPage, LinkPageState } from './link-state';
import { LINK_TEXTS_OF_CUSTOMERS, type LinkEnd } from './link-texts';

export function renderLinkPage(page: LinkPage): string {
  const { link, language, isSandbox } = page;
  return renderDocument({
    title: `${link.title} · ${link.merchantName}`,
    language,
    isSandbox,
    reloads: false,
    accent: link.accent,
    children: (
      <main className="checkout-card link">
        {isSandbox && <Watermark />}
        <Merchant merchantName={link.merchantName} logo={shownLogo(link.logo)} />
        <h1>{link.title}</h1>
        <State {...page} />
        {page.state.kind === 'ended' && <Contact contact={link.contact} language={language} />}
      </main>
    ),
  });
}

const END_ICONS = {
  paid: OUTCOME_ICONS.paid,
  closed: OUTCOME_ICONS.cancelled,
  expired: OUTCOME_ICONS.expired,
  used_up: OUTCOME_ICONS.expired,
  not_possible: OUTCOME_ICONS.cancelled,
} as const satisfies Record<LinkEnd, OutcomeIcon>;

function State({ state, ...page }: LinkPage): ReactElement {
  const texts = LINK_TEXTS_OF_CUSTOMERS[page.language];
  switch (state.kind) {
    case 'ended':
      return (
        <>
          <Disc icon={END_ICONS[state.end]} />
          <p className="end">{texts.ends[state.end]}</p>
        </>
      );
    case 'other_amount': {
      const amount = formatRupiah(state.amountRupiah);
      return (
        <>
          <p>{texts.otherAmount(amount, formatTimestamp(new Date(state.untilMs), page.language))}</p>
          <a className="button" href={state.href}>
            {texts.payOther(amount)}
          </a>
        </>
      );
    }
    case 'form':
      return <Form {...page} state={state} />;
  }
}

type FormProps = Omit<LinkPage, 'state'> & { readonly state: Extract<LinkPageState, { kind: 'form' }> };

function Form({ link, state, attempt, language }: FormProps): ReactElement {
  const texts = LINK_TEXTS_OF_CUSTOMERS[language];
  return (
    <form method="post" action={`?lang=${language}`}>
      {state.problem !== null && (
        <p className="note" role="alert">
          {texts.problems[state.problem]}
        </p>
      )}
      <input type="hidden" name="attempt" value={attempt} />
      {link.amountRupiah === null ? (
        <AmountField link={link} state={state} language={language} />
      ) : (
        <p className="amount">
          <span className="unseen">{texts.amount}: </span>
          {formatRupiah(link.amountRupiah)}
        </p>
      )}
      <button className="button">{texts.button}</button>
    </form>
  );
}

function AmountField({ link, state, language }: Pick<FormProps, 'link' | 'state' | 'language'>): ReactElement {
  const texts = LINK_TEXTS_OF_CUSTOMERS[language];
  const [minimum, maximum] = [formatRupiah(link.minimumRupiah ?? 0), formatRupiah(link.maximumRupiah ?? 0)];
  const note = state.hasAmountError ? texts.amountError(minimum, maximum) : texts.bounds(minimum, maximum);
  return (
    <p className="chosen-amount">
      <label htmlFor="amount">{texts.amount}</label>
      <span>
        <span aria-hidden="true">Rp</span>
        <input
          id="amount"
          name="amount"
          inputMode="numeric"
          autoComplete="off"
          required
          maxLength={16}
          defaultValue={state.amount}
          aria-invalid={state.hasAmountError || undefined}
          aria-describedby="amount-note"
        />
      </span>
      <small id="amount-note" className={state.hasAmountError ? 'error' : undefined}>
        {note}
      </small>
    </p>
  );
}
