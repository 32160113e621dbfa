import type { ReactElement } from 'react';
import { z } from 'zod';
import { isProposal } from '../../../domain/bank-account-transitions';
import { addBankAccount } from '../../../services/payouts/add-bank-account';
import { listBankAccounts } from '../../../services/payouts/bank-accounts';
import { memberPage } from '../../page/page-route';
import { Card, DoneNotice, Facts, PageHead } from '../../ui/layout';
import { EmptyState, Table, type Column } from '../../ui/table';
import { Time } from '../../ui/values';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { memberText } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { memberActor } from '../user-identity';
import { AccountChip, accountFacts, accountName, isCoolingDown, type ShownAccount } from './account-parts';
import { AccountSteps } from './account-steps';
import { BANK_ACCOUNT_ACTION_PATHS, bankAccountPath, newBankAccountPath } from './bank-account-paths';
import { BANK_ACCOUNT_DONE_CODES, BANK_ACCOUNT_TEXTS } from './bank-account-texts';
import { addRejections } from './new-bank-account';

type ShowDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'sealer' | 'workflows'>;

/** The account in use, the proposal, and the earlier ones; none with its number. */
export const showBankAccountPage = memberPage(
  { area: 'bank_account', level: 'view' },
  {
    method: 'get',
    path: bankAccountPath.pattern,
    fields: z.object({ done: z.enum(BANK_ACCOUNT_DONE_CODES).optional().catch(undefined) }),
    async handler(dependencies: ShowDependencies, visit, query) {
      const view = merchantView(dependencies, visit);
      const { merchantId } = visit.member;
      const [accounts, { rejection: reason }] = await Promise.all([
        listBankAccounts(dependencies, merchantId),
        addBankAccount.preview(dependencies, memberActor(visit), { merchant: merchantId }),
      ]);
      const rejection = reason && memberText(view, addRejections(view), reason);
      const done = query.ok ? query.values.done : undefined;
      return pageResponse(renderBankAccountPage({ view, accounts, rejection, done }));
    },
  },
);

interface BankAccountPage {
  readonly view: MerchantView;
  readonly accounts: readonly ShownAccount[];
  /** Why no account can be added; null: one can. */
  readonly rejection: string | null;
  readonly done: (typeof BANK_ACCOUNT_DONE_CODES)[number] | undefined;
}

function renderBankAccountPage(page: BankAccountPage): string {
  return renderMerchantPage(page.view, {
    title: BANK_ACCOUNT_TEXTS[page.view.locale.language].title,
    current: 'bankAccount',
    live: 'poll',
    children: <BankAccount {...page} />,
  });
}

function BankAccount({ view, accounts, rejection, done }: BankAccountPage): ReactElement {
  const texts = BANK_ACCOUNT_TEXTS[view.locale.language];
  const proposal = accounts.find(({ status }) => isProposal(status));
  const inUse = accounts.find(({ status }) => status === 'active' || status === 'suspended');
  const earlier = accounts.filter((account) => account !== proposal && account !== inUse);
  const version = accounts.map((account) => `${account.id}${account.version}`).join();
  const cooling = inUse !== undefined && isCoolingDown(view, inUse);
  return (
    <>
      <PageHead title={texts.title}>
        {rejection === null && inUse !== undefined && (
          <a className="button" href={newBankAccountPath.to(view)}>
            {texts.change}
          </a>
        )}
      </PageHead>
      <div className="stack">
        <DoneNotice text={done && texts.done[done]} />
        <p className="dim text">{texts.explanation}</p>
        {rejection !== null && proposal === undefined && <p className="dim text">{rejection}</p>}
        <div className="stack" data-part="accounts" data-version={`${version}${String(cooling)}`}>
          {proposal === undefined && inUse === undefined && (
            <Card>
              <EmptyState icon="bankAccount" text={texts.nothing}>
                {rejection === null && (
                  <a className="button primary" href={newBankAccountPath.to(view)}>
                    {texts.add}
                  </a>
                )}
              </EmptyState>
            </Card>
          )}
          {proposal && <AccountCard view={view} account={proposal} title={texts.proposal} />}
          {inUse && <AccountCard view={view} account={inUse} title={texts.inUse} isPaused={proposal !== undefined} />}
          {earlier.length > 0 && (
            <Card title={texts.history}>
              <Table
                caption={texts.historyCaption}
                columns={columnsOf(view)}
                rows={earlier}
                keyOf={({ id }) => id}
                empty={<EmptyState icon="bankAccount" text={texts.nothing} />}
              />
            </Card>
          )}
        </div>
      </div>
    </>
  );
}

interface AccountCardProps {
  readonly view: MerchantView;
  readonly account: ShownAccount;
  readonly title: string;
  /** Whether payouts to it wait for the proposed account. */
  readonly isPaused?: boolean;
}

/** The state in words, what is known, and what can be done. */
function AccountCard({ view, account, title, isPaused = false }: AccountCardProps): ReactElement {
  const { confirm, withdraw, disable } = BANK_ACCOUNT_TEXTS[view.locale.language];
  const isOpen = isProposal(account.status);
  const path = { code: view.code, account: account.id };
  const mayManage = view.rightRejection('bank_account', 'manage') === null;
  return (
    <Card title={title}>
      <div className="card-body">
        <p className="text">
          <Sentence view={view} account={account} isPaused={isPaused} />
        </p>
        <AccountSteps view={view} account={account} />
      </div>
      <Facts facts={accountFacts({ view, account, isPaused })} />
      {mayManage && (
        <div className="card-body">
          <div className="buttons">
            {account.waitsForMember && account.status === 'pending_approval' && (
              <a className="button primary" href={BANK_ACCOUNT_ACTION_PATHS.confirm.to(path)}>
                {confirm.button}
              </a>
            )}
            <a className="button" href={BANK_ACCOUNT_ACTION_PATHS[isOpen ? 'withdraw' : 'disable'].to(path)}>
              {isOpen ? withdraw.button : disable.button}
            </a>
          </div>
        </div>
      )}
    </Card>
  );
}

function Sentence({ view, account, isPaused }: Omit<AccountCardProps, 'title'>): ReactElement {
  const { sentences, waitsForMember, coolDown, paused, pausedByProposal } = BANK_ACCOUNT_TEXTS[view.locale.language];
  const { status, usableFrom } = account;
  if (usableFrom !== null && isCoolingDown(view, account)) {
    return (
      <>
        {coolDown} <Time at={usableFrom} style="full" locale={view.locale} />.
      </>
    );
  }
  if (status === 'active' && isPaused) return <>{pausedByProposal}</>;
  if (status === 'active' || status === 'suspended') return <>{sentences[status]}</>;
  if (!isProposal(status)) return <></>;
  return (
    <>
      {account.waitsForMember && status === 'pending_approval' ? waitsForMember : sentences[status]} {paused}
    </>
  );
}

function columnsOf(view: MerchantView): Column<ShownAccount>[] {
  const { columns } = BANK_ACCOUNT_TEXTS[view.locale.language];
  return [
    { title: columns.account, narrow: 'first', className: 'strong', cell: accountName },
    { title: columns.reason, narrow: 'second', cell: ({ failureReason }) => failureReason ?? '–' },
    {
      title: columns.ended,
      narrow: 'second-end',
      cell: ({ updatedAt }) => <Time at={updatedAt} style="short" locale={view.locale} />,
    },
    {
      title: columns.status,
      narrow: 'first-end',
      cell: (account) => <AccountChip view={view} account={account} />,
    },
  ];
}
