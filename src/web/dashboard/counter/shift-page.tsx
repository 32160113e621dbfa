import type { ReactElement } from 'react';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import { Select } from '../../ui/select';
import { EmptyState, Table } from '../../ui/table';
import { Money, Time } from '../../ui/values';
import { SHIFT_STYLES } from '../files';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { counterPath, exportShiftPath, shiftPath } from './counter-paths';
import { COUNTER_TEXTS, type CounterTexts } from './counter-texts';
import { shiftColumns, type ShiftPayment } from './shift-columns';
import type { ShiftTime } from './shift-fields';

export interface ShiftMember {
  readonly userId: string;
  readonly name: string;
  /** The user is no member any more. */
  readonly hasLeft: boolean;
}

/** What the payments add up to. */
interface ShiftFigures {
  /** There are neither figures nor payments. */
  readonly isTooLong: boolean;
  readonly hasArchivedDays: boolean;
  readonly created: number;
  readonly paid: number;
  readonly paidRupiah: number;
  readonly refunded: number;
  readonly waiting: number;
  readonly netRupiah: number;
  readonly inBalanceRupiah: number;
  readonly unsettledRupiah: number;
  /** Whether the net is in the balance or not yet settled. */
  readonly isEqual: boolean;
}

interface ShiftPage {
  readonly view: MerchantView;
  readonly member: ShiftMember;
  /** Whose shifts the user may see. */
  readonly members: readonly ShiftMember[];
  readonly time: ShiftTime;
  /** What is in the fields. */
  readonly sent: { readonly from: string; readonly to: string };
  readonly errors: Readonly<Partial<Record<string, string>>>;
  /** Null: the fields are not possible. */
  readonly shift: { readonly figures: ShiftFigures; readonly payments: readonly ShiftPayment[] } | null;
}

export function renderShiftPage(page: ShiftPage): string {
  const { view } = page;
  return renderMerchantPage(view, {
    title: COUNTER_TEXTS[view.locale.language].shift.title,
    current: 'counter',
    live: 'none',
    styles: SHIFT_STYLES,
    children: <ShiftReport {...page} />,
  });
}

const nameOf = ({ name, hasLeft }: ShiftMember, { former }: CounterTexts['shift']) => (hasLeft ? former(name) : name);

function ShiftReport(page: ShiftPage): ReactElement {
  const { view, member, sent, shift, errors, time } = page;
  const counter = COUNTER_TEXTS[view.locale.language];
  const texts = counter.shift;
  const query = { ...sent, member: member.userId };
  return (
    <div className="shift">
      <PageHead title={texts.of(nameOf(member, texts))} back={{ href: counterPath.to(view), label: counter.title }}>
        {shift && shift.payments.length > 0 && (
          <>
            <button type="button" className="button no-print" data-print="" hidden>
              {texts.print}
            </button>
            <a className="button no-print" href={exportShiftPath.to(view, query)} download>
              {texts.export}
            </a>
          </>
        )}
      </PageHead>
      <div className="stack">
        <ErrorSummary title={view.texts.create.errorTitle} errors={errors} />
        <ShiftFilter {...page} />
        <p className="print-only">
          <Time at={time.from} style="short" locale={view.locale} /> –{' '}
          <Time at={time.to} style="short" locale={view.locale} />
        </p>
        {shift && <ShiftContent view={view} {...shift} />}
      </div>
    </div>
  );
}

function ShiftFilter({ view, member, members, sent, errors }: ShiftPage): ReactElement {
  const texts = COUNTER_TEXTS[view.locale.language].shift;
  return (
    <form className="filter no-print" action={shiftPath.to(view)}>
      <Field name="from" type="datetime-local" label={texts.from} value={sent.from} error={errors.from} />
      <Field name="to" type="datetime-local" label={texts.to} value={sent.to} error={errors.to} />
      {members.length > 1 && (
        <Select
          name="member"
          label={texts.member}
          value={member.userId}
          options={members.map((each) => ({ value: each.userId, label: nameOf(each, texts) }))}
        />
      )}
      <button className="button">{texts.show}</button>
    </form>
  );
}

interface ShiftContentProps {
  readonly view: MerchantView;
  readonly figures: ShiftFigures;
  readonly payments: readonly ShiftPayment[];
}

function ShiftContent({ view, figures, payments }: ShiftContentProps): ReactElement {
  const texts = COUNTER_TEXTS[view.locale.language].shift;
  if (figures.isTooLong) return <Warning text={texts.tooLong} />;
  const seesBalance = view.rightRejection('balance', 'view') === null;
  return (
    <>
      {figures.hasArchivedDays && <Warning text={texts.archived} />}
      {!figures.isEqual && <Warning text={texts.unequal} />}
      {payments.length > 0 && <Figures view={view} figures={figures} seesBalance={seesBalance} />}
      <Card title={payments.length > 0 ? texts.caption : undefined}>
        <Table
          caption={texts.caption}
          columns={shiftColumns(view, seesBalance)}
          rows={payments}
          keyOf={({ referenceId }) => referenceId}
          empty={<EmptyState icon="counter" text={texts.empty} />}
        />
      </Card>
    </>
  );
}

interface FiguresProps {
  readonly view: MerchantView;
  readonly figures: ShiftFigures;
  readonly seesBalance: boolean;
}

function Figures({ view, figures, seesBalance }: FiguresProps): ReactElement {
  return (
    <Card>
      <div className="shift-figures">
        <Facts facts={countsOf(view, figures)} />
        {seesBalance && (
          <div>
            <Facts facts={balanceOf(view, figures)} />
            {figures.isEqual && <p className="dim small equality">{COUNTER_TEXTS[view.locale.language].shift.equal}</p>}
          </div>
        )}
      </div>
    </Card>
  );
}

const Warning = ({ text }: { readonly text: string }): ReactElement => (
  <Notice tone="warning">
    <p>{text}</p>
  </Notice>
);

function countsOf(view: MerchantView, figures: ShiftFigures): readonly Fact[] {
  const texts = COUNTER_TEXTS[view.locale.language].shift;
  return [
    { name: texts.created, value: figures.created },
    { name: texts.paid, value: figures.paid },
    { name: texts.refunded, value: figures.refunded },
    { name: texts.waiting, value: figures.waiting },
    { name: texts.total, value: <Money rupiah={figures.paidRupiah} />, isTotal: true },
  ];
}

function balanceOf(view: MerchantView, figures: ShiftFigures): readonly Fact[] {
  const texts = COUNTER_TEXTS[view.locale.language].shift;
  return [
    { name: texts.net, value: <Money rupiah={figures.netRupiah} /> },
    { name: texts.inBalance, value: <Money rupiah={figures.inBalanceRupiah} /> },
    { name: texts.unsettled, value: <Money rupiah={figures.unsettledRupiah} /> },
  ];
}
