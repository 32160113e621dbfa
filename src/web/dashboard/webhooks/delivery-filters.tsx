import type { ReactElement } from 'react';
import { WEBHOOK_EVENTS } from '../../../domain/events';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { Field } from '../../ui/form';
import { MoreFilters } from '../../ui/more-filters';
import { Select } from '../../ui/select';
import type { MerchantView } from '../merchant-view';
import { DELIVERY_STATES } from './delivery-table';
import { DELIVERY_TEXTS } from './delivery-texts';
import { deliveriesPath } from './webhook-paths';

interface FiltersProps {
  readonly view: MerchantView;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly endpoints: readonly { readonly id: string; readonly origin: string }[];
}

/** The form of the list of deliveries: it makes another query. */
export function Filters({ view, sent, errors, endpoints }: FiltersProps): ReactElement {
  const { filter, statuses, apply } = DELIVERY_TEXTS[view.locale.language];
  const any = { value: '', label: filter.any };
  const states = [any, ...DELIVERY_STATES.map((state) => ({ value: state, label: statuses[state] }))];
  const events = [any, ...WEBHOOK_EVENTS.map((event) => ({ value: event, label: event }))];
  const receivers = [any, ...endpoints.map(({ id, origin }) => ({ value: id, label: origin }))];
  return (
    <form className="filter" method="get" action={deliveriesPath.to(view)}>
      <MoreFilters label={filter.name} isSet={Object.keys(sent).length > 0}>
        <Select name="status" label={filter.status} value={sent.status ?? ''} options={states} error={errors.status} />
        <Select name="event" label={filter.event} value={sent.event ?? ''} options={events} error={errors.event} />
        <Select
          name="endpoint"
          label={filter.endpoint}
          value={sent.endpoint ?? ''}
          options={receivers}
          error={errors.endpoint}
        />
        <Field name="from" label={filter.from} type="date" value={sent.from ?? ''} error={errors.from} />
        <Field name="to" label={filter.to} type="date" value={sent.to ?? ''} error={errors.to} />
        <button className="button">{apply}</button>
      </MoreFilters>
    </form>
  );
}
