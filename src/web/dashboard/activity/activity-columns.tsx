import type { RecordedOutcome } from '../../../domain/recorded-outcome';
import { StateChip } from '../../ui/chip';
import { formatTime } from '../../ui/format';
import { Icon, type IconName } from '../../ui/icon';
import type { Column } from '../../ui/table';
import { Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { ACTIVITY_TEXTS } from './activity-texts';

export interface ShownAction {
  readonly id: number;
  /** Null: an operator of Lunas. */
  readonly userId: string | null;
  readonly userName: string | null;
  readonly action: string;
  readonly requestedAt: Date;
  readonly address: string | null;
  readonly outcome: RecordedOutcome | null;
  readonly object: { readonly label: string; readonly href: string | null } | null;
}

/** The actions of each day, in words, in the order of the list. */
export function daysOf({ locale }: MerchantView, actions: readonly ShownAction[]) {
  const days = new Map<string, ShownAction[]>();
  for (const action of actions) {
    const day = formatTime(action.requestedAt, 'weekday', locale);
    days.set(day, [...(days.get(day) ?? []), action]);
  }
  return [...days].map(([day, rows]) => ({ day, rows }));
}

/** The icon of the part of the menu to which an action belongs, by the beginning of its name. */
const ICONS = [
  [/^payments?\b/, 'payments'],
  [/^payouts?(_|\b)/, 'payouts'],
  [/^bank_account/, 'bankAccount'],
  [/^(balance|statement)/, 'balance'],
  [/^(key|webhook|deliver|request)/, 'developers'],
  [/^(member|invitation|user)/, 'team'],
  [/^(settings|merchant|appearance|logo)/, 'settings'],
] as const satisfies readonly (readonly [RegExp, IconName])[];

const iconOf = (action: string): IconName => ICONS.find(([pattern]) => pattern.test(action))?.[1] ?? 'activity';

const TONES = { succeeded: 'good', rejected: 'bad', indeterminate: 'warning' } as const;

export function columnsOf({ locale }: MerchantView): Column<ShownAction>[] {
  const texts = ACTIVITY_TEXTS[locale.language];
  const words: Readonly<Partial<Record<string, string>>> = texts.actions;
  const { columns } = texts;
  return [
    {
      title: columns.time,
      narrow: 'second-end',
      cell: ({ requestedAt }) => <Time at={requestedAt} style="second" locale={locale} />,
    },
    {
      title: columns.person,
      narrow: 'second',
      className: 'clipped',
      cell: ({ userId, userName }) => (userId === null ? texts.lunas : (userName ?? '–')),
    },
    {
      title: columns.action,
      narrow: 'first',
      className: 'strong',
      cell: ({ action, object }) => {
        const text = words[action] ?? action;
        const href = object?.href ?? null;
        return (
          <span className="with-icon">
            <Icon name={iconOf(action)} />
            {href === null ? (
              text
            ) : (
              <a className="row-link" href={href}>
                {text}
              </a>
            )}
          </span>
        );
      },
    },
    {
      title: columns.object,
      narrow: 'hidden',
      cell: ({ object }) => object?.label ?? <span className="dim">–</span>,
    },
    {
      title: columns.outcome,
      narrow: 'first-end',
      cell: ({ outcome }) => (
        <StateChip tone={TONES[outcome ?? 'indeterminate']} label={texts.outcomes[outcome ?? 'indeterminate']} />
      ),
    },
    {
      title: columns.address,
      narrow: 'hidden',
      className: 'wide-only',
      cell: ({ address }) => (address === null ? <span className="dim">–</span> : <code>{address}</code>),
    },
  ];
}
