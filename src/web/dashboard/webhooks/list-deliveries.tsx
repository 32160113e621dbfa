import type { ReactElement } from 'react';
import { listOwnDeliveries, type OwnDeliveries } from '../../../services/webhooks/own-deliveries';
import { listOwnEndpoints } from '../../../services/webhooks/webhook-endpoints';
import { memberPage } from '../../page/page-route';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { ErrorSummary } from '../../ui/form';
import { Card, DoneNotice, Notice, PageHead } from '../../ui/layout';
import { EmptyState, Pager } from '../../ui/table';
import { Time } from '../../ui/values';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderDeveloperPage } from '../developer-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { deliveryFilter, deliveryQuery, neighbourQueries } from './delivery-filter';
import { Filters } from './delivery-filters';
import { DeliveryTable, versionOfDeliveries, type ShownDelivery } from './delivery-table';
import { DELIVERY_TEXTS } from './delivery-texts';
import { originOf } from './endpoint-parts';
import { deliveriesPath, endpointPath, redeliverRangePath } from './webhook-paths';

/** Each row is an event of its own to read. */
const PAGE_SIZE = 20;

const NONE: OwnDeliveries = { deliveries: [], newerThan: null, olderThan: null, isCut: false };

/** The list: filters and position are in the address. */
export const listDeliveriesPage = memberPage(
  { area: 'developers', level: 'view' },
  {
    method: 'get',
    path: deliveriesPath.pattern,
    fields: deliveryQuery,
    async handler({ db, ...dependencies }: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const endpoints = await listOwnEndpoints(db, visit.member.merchantId);
      const filter = query.ok ? deliveryFilter(visit.member, query.values) : null;
      const found = filter === null ? NONE : await listOwnDeliveries(db, filter, PAGE_SIZE);
      const { redelivered: _, older: __, newer: ___, ...filters } = query.sent;
      const { title, error } = DELIVERY_TEXTS[view.locale.language];
      const page: DeliveryListProps = {
        view,
        sent: filters,
        errors: query.ok ? {} : Object.fromEntries(Object.keys(query.errors).map((name) => [name, error])),
        deliveries: found.deliveries,
        endpoints: endpoints.map(({ id, url, status, failingSince }) => ({
          id,
          origin: originOf(url),
          failingSince: status === 'enabled' ? failingSince : null,
        })),
        ...neighbourQueries(filters, found),
        isCut: found.isCut,
        redelivered: query.ok ? query.values.redelivered : undefined,
      };
      const live = page.newer === null && query.ok ? 'poll' : 'none';
      const children = <DeliveryList {...page} />;
      const html = renderDeveloperPage(view, { title, section: 'deliveries', live, children });
      return pageResponse(html, query.ok ? 200 : 422);
    },
  },
);

interface FilteredEndpoint {
  readonly id: string;
  readonly origin: string;
  readonly failingSince: Date | null;
}

interface DeliveryListProps {
  readonly view: MerchantView;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly deliveries: readonly ShownDelivery[];
  readonly endpoints: readonly FilteredEndpoint[];
  /** The query of the neighbouring pages; null: there is none. */
  readonly newer: SentFields | null;
  readonly older: SentFields | null;
  /** Whether only 2,000 deliveries were compared with the filter. */
  readonly isCut: boolean;
  /** How many of a range are sent again, after its form. */
  readonly redelivered: number | undefined;
}

function DeliveryList(page: DeliveryListProps): ReactElement {
  const { view, sent, errors, deliveries, newer, older, redelivered } = page;
  const texts = DELIVERY_TEXTS[view.locale.language];
  return (
    <>
      <PageHead title={texts.title}>
        {sent.status === 'dead' && view.rightRejection('developers', 'manage') === null && (
          <a className="button" href={redeliverRangePath.to(view, { from: sent.from, to: sent.to })}>
            {texts.range.link}
          </a>
        )}
      </PageHead>
      <div className="stack">
        <DoneNotice text={redelivered !== undefined && texts.redelivered(String(redelivered))} />
        <ErrorSummary title={texts.errorTitle} errors={errors} />
        <Failing {...page} />
        {(deliveries.length > 0 || Object.keys(sent).length > 0) && <Filters {...page} />}
        {page.isCut && (
          <Notice tone="info">
            <p>{texts.searched}</p>
          </Notice>
        )}
        <Card part="deliveries" version={versionOfDeliveries(deliveries)}>
          <DeliveryTable view={view} deliveries={deliveries} hasEndpoint empty={<Empty {...page} />} />
          <Pager
            newer={newer && deliveriesPath.to(view, newer)}
            older={older && deliveriesPath.to(view, older)}
            texts={texts.pager}
          />
        </Card>
      </div>
    </>
  );
}

/** Why deliveries wait: the endpoints that fail now, of those that are shown. */
function Failing({ view, sent, endpoints }: DeliveryListProps): ReactElement | null {
  const { endpointFails } = DELIVERY_TEXTS[view.locale.language];
  const failing = endpoints.filter(({ id }) => sent.endpoint === undefined || sent.endpoint === id);
  const rows = failing.flatMap(({ id, origin, failingSince }) => (failingSince ? [{ id, origin, failingSince }] : []));
  if (rows.length === 0) return null;
  return (
    <Notice tone="warning">
      {rows.map(({ id, origin, failingSince }) => (
        <p key={id} className="breakable">
          <a href={endpointPath.to({ code: view.code, endpoint: id })}>{origin}</a> {endpointFails}{' '}
          <Time at={failingSince} style="full" locale={view.locale} />
        </p>
      ))}
    </Notice>
  );
}

function Empty({ view, sent }: DeliveryListProps): ReactElement {
  const texts = DELIVERY_TEXTS[view.locale.language];
  if (Object.keys(sent).length === 0) return <EmptyState icon="developers" text={texts.nothing} />;
  return (
    <EmptyState icon="search" text={texts.noMatch}>
      <a className="button" href={deliveriesPath.to(view)}>
        {texts.clear}
      </a>
    </EmptyState>
  );
}
