import type { ReactElement } from 'react';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, Notice, PageHead } from '../../ui/layout';
import { MoreFilters } from '../../ui/more-filters';
import { Select } from '../../ui/select';
import { EmptyState, Pager, Table } from '../../ui/table';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { columnsOf, daysOf, type ShownAction } from './activity-columns';
import { activityPath, exportActivityPath } from './activity-paths';
import { ACTION_OPTIONS, ACTIVITY_TEXTS } from './activity-texts';

interface ActivityPage {
  readonly view: MerchantView;
  /** The members and Lunas, for the filter. */
  readonly people: readonly { readonly id: string; readonly name: string }[];
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly actions: readonly ShownAction[];
  /** The query of the neighbouring pages; null if there is none. */
  readonly newer: SentFields | null;
  readonly older: SentFields | null;
  /** Whether only 2,000 actions were compared with the filter. */
  readonly isCut: boolean;
}

export function renderActivityPage(page: ActivityPage): string {
  const { title } = ACTIVITY_TEXTS[page.view.locale.language];
  return renderMerchantPage(page.view, { title, current: 'activity', live: 'none', children: <Activity {...page} /> });
}

function Activity(page: ActivityPage): ReactElement {
  const { view, actions, errors, sent, newer, older, isCut } = page;
  const texts = ACTIVITY_TEXTS[view.locale.language];
  const known: Readonly<Partial<Record<string, string>>> = texts.errors;
  const entries = Object.entries(errors).map(([name, code]) => [name, known[code] ?? texts.errors.cursor] as const);
  const messages = Object.fromEntries(entries);
  const { older: _, newer: __, ...filters } = sent;
  const hasFilter = actions.length > 0 || Object.keys(sent).length > 0;
  return (
    <>
      <PageHead title={texts.title}>
        {entries.length === 0 && hasFilter && (
          <a className="button" href={exportActivityPath.to(view, filters)} download>
            {texts.export}
          </a>
        )}
      </PageHead>
      <div className="stack">
        <p className="dim text">{texts.explanation}</p>
        <ErrorSummary title={texts.errorTitle} errors={messages} />
        {hasFilter && <Filters page={page} messages={messages} />}
        {isCut && (
          <Notice tone="info">
            <p>{texts.searched}</p>
          </Notice>
        )}
        {actions.length === 0 && (
          <Card>
            <Empty page={page} />
          </Card>
        )}
        {daysOf(view, actions).map(({ day, rows }) => (
          <Card key={day} title={day}>
            <Table
              caption={`${texts.caption}: ${day}`}
              columns={columnsOf(view)}
              rows={rows}
              keyOf={({ id }) => String(id)}
              empty={null}
            />
          </Card>
        ))}
        <Pager
          newer={newer && activityPath.to(view, newer)}
          older={older && activityPath.to(view, older)}
          texts={texts.pager}
        />
      </div>
    </>
  );
}

interface FiltersProps {
  readonly page: ActivityPage;
  readonly messages: FieldErrors;
}

function Filters({ page: { view, people, sent }, messages }: FiltersProps): ReactElement {
  const texts = ACTIVITY_TEXTS[view.locale.language];
  const words: Readonly<Partial<Record<string, string>>> = texts.actions;
  const { person, action, from, to } = sent;
  const persons = people.map(({ id, name }) => ({ value: id, label: name }));
  const actions = ACTION_OPTIONS.map((name) => ({ value: name, label: words[name] ?? name }));
  return (
    <form className="filter" method="get" action={activityPath.to(view)}>
      <MoreFilters label={texts.filters} isSet={[person, action, from, to].some((value) => value !== undefined)}>
        <Select
          name="person"
          label={texts.person}
          value={person ?? ''}
          options={[{ value: '', label: texts.allPeople }, ...persons]}
          error={messages.person}
        />
        <Select
          name="action"
          label={texts.action}
          value={action ?? ''}
          options={[{ value: '', label: texts.allActions }, ...actions]}
          error={messages.action}
        />
        <Field name="from" label={texts.from} type="date" value={from ?? ''} error={messages.from} />
        <Field name="to" label={texts.to} type="date" value={to ?? ''} error={messages.to} />
        <button className="button">{texts.apply}</button>
      </MoreFilters>
    </form>
  );
}

function Empty({ page: { view, sent } }: { readonly page: ActivityPage }): ReactElement {
  const texts = ACTIVITY_TEXTS[view.locale.language];
  if (Object.keys(sent).length === 0) return <EmptyState icon="activity" text={texts.nothing} />;
  return (
    <EmptyState icon="search" text={texts.noMatch}>
      <a className="button" href={activityPath.to(view)}>
        {texts.clear}
      </a>
    </EmptyState>
  );
}
