import type { ReactElement } from 'react';
import type { BalanceTransactionKind } from '../../../domain/balance';
import { describeAccount } from '../../../domain/banks';
import { formatRupiah } from '../../../domain/money';
import type { Rail } from '../../../domain/payout-rails';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import { Money, SignedMoney, Time } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { PAYOUT_TEXTS, RAIL_NAMES } from './payout-texts';

/** A payout as it would be requested now. */
interface ShownPreview {
  readonly account: { readonly bankCode: string; readonly lastFour: string };
  readonly balanceRupiah: number;
  readonly grossRupiah: number;
  readonly afterPostingId: number;
  readonly upToPostingId: number;
  readonly rail: {
    readonly policy: { readonly rail: Rail; readonly feeRupiah: number };
    readonly amountRupiah: number;
    readonly sendsAt: Date;
  };
  readonly lines: readonly { readonly kind: BalanceTransactionKind; readonly count: number; readonly rupiah: number }[];
}

/** Why there is no payout, and where the user can do something about it. */
export interface ShownRejection {
  readonly text: string;
  readonly next: { readonly href: string; readonly label: string };
}

interface NewPayoutPage {
  readonly view: MerchantView;
  readonly formToken: string;
  readonly preview: ShownPreview | null;
  /** Null: there is a preview. */
  readonly rejection: ShownRejection | null;
  /** What happened to the form that was sent, in words. */
  readonly problem: string | null;
}

export function renderNewPayoutPage(page: NewPayoutPage): string {
  return renderMerchantPage(page.view, {
    title: PAYOUT_FORM_TEXTS[page.view.locale.language].new.title,
    current: 'payouts',
    live: 'none',
    children: <NewPayout {...page} />,
  });
}

function NewPayout({ view, formToken, preview, rejection, problem }: NewPayoutPage): ReactElement {
  const texts = PAYOUT_FORM_TEXTS[view.locale.language].new;
  return (
    <div className="narrow">
      <PageHead
        title={texts.title}
        back={{ href: view.paths.payouts, label: PAYOUT_TEXTS[view.locale.language].title }}
      />
      <div className="stack">
        {problem !== null && (
          <Notice tone="bad">
            <p>{problem}</p>
          </Notice>
        )}
        {rejection !== null && <Rejection {...rejection} />}
        {preview !== null && <Preview view={view} formToken={formToken} preview={preview} />}
      </div>
    </div>
  );
}

function Rejection({ text, next }: ShownRejection): ReactElement {
  return (
    <>
      <Notice tone="warning">
        <p>{text}</p>
      </Notice>
      <div className="buttons">
        <a className="button wide-button" href={next.href}>
          {next.label}
        </a>
      </div>
    </>
  );
}

interface PreviewProps {
  readonly view: MerchantView;
  readonly formToken: string;
  readonly preview: ShownPreview;
}

/** There is no field for the amount: a payout pays the whole balance. */
function Preview({ view, formToken, preview }: PreviewProps): ReactElement {
  const texts = PAYOUT_FORM_TEXTS[view.locale.language].new;
  const { grossRupiah, balanceRupiah, lines, rail } = preview;
  return (
    <>
      <Card>
        <Facts facts={amountFacts(view, preview)} />
      </Card>
      <Card title={texts.pays} aside={<a href={view.paths.balance}>{texts.lines}</a>}>
        {lines.length === 0 && <p className="text">{texts.onAccount}</p>}
        <Facts
          facts={lines.map(({ kind, count, rupiah }) => ({
            name: texts.kinds[kind](count),
            value: <SignedMoney rupiah={rupiah} />,
          }))}
        />
      </Card>
      {grossRupiah < balanceRupiah && <p className="text">{texts.rest}</p>}
      <p className="dim text">{texts.approval}</p>
      <ConfirmForm
        action={view.paths.newPayout}
        label={texts.button(formatRupiah(rail.amountRupiah))}
        tone="primary"
        fields={{
          form_id: formToken,
          after: String(preview.afterPostingId),
          up_to: String(preview.upToPostingId),
          gross: String(grossRupiah),
        }}
        rejection={null}
      >
        <a className="button wide-button" href={view.paths.payouts}>
          {texts.back}
        </a>
      </ConfirmForm>
    </>
  );
}

function amountFacts({ locale, nowMs }: MerchantView, preview: ShownPreview): Fact[] {
  const texts = PAYOUT_FORM_TEXTS[locale.language].new;
  const { account, balanceRupiah, grossRupiah, rail } = preview;
  const isNow = rail.sendsAt.getTime() <= nowMs;
  const part = { name: texts.gross, value: <Money rupiah={grossRupiah} /> };
  return [
    {
      name: texts.account,
      value: <span className="strong">{describeAccount(account.bankCode, account.lastFour)}</span>,
    },
    { name: texts.sent, value: isNow ? texts.now : <Time at={rail.sendsAt} style="short" locale={locale} /> },
    { name: texts.balance, value: <Money rupiah={balanceRupiah} /> },
    ...(grossRupiah < balanceRupiah ? [part] : []),
    { name: texts.fee(RAIL_NAMES[rail.policy.rail]), value: <Money rupiah={-rail.policy.feeRupiah} /> },
    { name: texts.amount, value: <Money rupiah={rail.amountRupiah} />, isTotal: true },
  ];
}
