import type { ReactElement } from 'react';
import { z } from 'zod';
import { formatDigits } from '../../../domain/money';
import { PAYOUT_SCHEDULES, WEEKDAYS, type PayoutSettings } from '../../../domain/payout-schedule';
import { setPayoutSettings } from '../../../services/payouts/set-payout-settings';
import { sentField } from '../../page/sent-field';
import { Choices } from '../../ui/choices';
import { Field } from '../../ui/form';
import { FormButtons, FormFrame } from '../../ui/form-frame';
import { Select } from '../../ui/select';
import { memberFormPages, type FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import { amountField } from '../payments/list-filter';
import { SECOND_MEMBER_TEXTS } from '../texts/second-member-texts';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { payoutsPath, proposedSchedulePath, schedulePath } from './payout-paths';
import { PAYOUT_TEXTS } from './payout-texts';
import { nextRunText, SCHEDULE_TEXTS } from './schedule-texts';

/** Only a weekly schedule has a day: that of another one is ignored. */
const scheduleFields = z
  .object({
    schedule: z.enum(PAYOUT_SCHEDULES, { error: 'schedule' }),
    weekday: z.coerce.number().pipe(z.literal(WEEKDAYS)).optional().catch(undefined),
    minimum: amountField.refine((rupiah) => rupiah >= 1, { error: 'amount' }),
  })
  .transform(({ schedule, weekday, minimum: minimumRupiah }, context): PayoutSettings => {
    if (schedule !== 'weekly') return { schedule, weekday: null, minimumRupiah };
    if (weekday !== undefined) return { schedule, weekday, minimumRupiah };
    context.addIssue({ code: 'custom', message: 'weekday', path: ['weekday'] });
    return z.NEVER;
  });

export const schedulePages = memberFormPages({
  at: schedulePath,
  operation: setPayoutSettings,
  path: () => ({}),
  fields: () => scheduleFields,
  errors: ({ locale }) => SCHEDULE_TEXTS[locale.language].errors,
  rejections({ locale }) {
    const { none_counts } = SCHEDULE_TEXTS[locale.language].rejections;
    const { member_too_new } = SECOND_MEMBER_TEXTS[locale.language];
    return { member_too_new, none_counts: () => none_counts };
  },
  done: (outcome, { view }) =>
    outcome === 'proposed' ? proposedSchedulePath.to(view) : payoutsPath.to(view, { done: 'saved' }),
  render: (page) =>
    renderMerchantPage(page.view, {
      title: SCHEDULE_TEXTS[page.view.locale.language].title,
      current: 'payouts',
      live: 'none',
      children: <Schedule {...page} />,
    }),
});

type SchedulePage = FormPage<{ readonly settings: PayoutSettings; readonly isProposed: boolean }>;

/** A member who cannot change automatic payouts can still end them. */
function Schedule(page: SchedulePage): ReactElement {
  const { view, rejection, errors } = page;
  const texts = SCHEDULE_TEXTS[view.locale.language];
  return (
    <FormFrame
      title={texts.title}
      back={{ href: payoutsPath.to(view), label: PAYOUT_TEXTS[view.locale.language].title }}
      rejection={rejection}
      errorTitle={texts.errorTitle}
      errors={errors}
    >
      <ScheduleForm {...page} />
    </FormFrame>
  );
}

function ScheduleForm({ view, now, subject: { settings, isProposed }, ...page }: SchedulePage): ReactElement {
  const texts = SCHEDULE_TEXTS[view.locale.language];
  const { sent, errors, attributes } = page;
  const shown = sent ?? {
    schedule: settings.schedule,
    weekday: String(settings.weekday ?? ''),
    minimum: formatDigits(settings.minimumRupiah),
  };
  const fields = { sent: shown, errors, attributes };
  const weekdays = WEEKDAYS.map((day) => ({ value: String(day), label: texts.weekdays[day] }));
  const weekday = (
    <Select
      {...sentField('weekday', fields)}
      label={texts.weekday}
      options={[{ value: '', label: '–' }, ...weekdays]}
    />
  );
  const choices = PAYOUT_SCHEDULES.map((name) => ({
    name,
    label: texts.schedules[name],
    isChosen: name === shown.schedule,
    details: name === 'weekly' ? weekday : undefined,
  }));
  return (
    <form className="card-body stack" method="post" action={schedulePath.to(view)}>
      <p className="text">{texts.explanation}</p>
      <p className="text">
        {texts.next}: <span className="strong">{nextRunText(view.locale, settings, now)}</span>
      </p>
      {isProposed && (
        <p className="text">
          {texts.proposal.title}. <a href={proposedSchedulePath.to(view)}>{texts.proposal.see}</a>
        </p>
      )}
      <Choices
        name="schedule"
        kind="radio"
        label={texts.schedule}
        choices={choices}
        error={errors.schedule}
        {...attributes.schedule}
      />
      <Field
        {...sentField('minimum', fields)}
        label={texts.minimum}
        hint={texts.minimumHint}
        prefix="Rp"
        inputMode="numeric"
        autoComplete="off"
      />
      <FormButtons
        label={texts.save}
        cancel={PAYOUT_FORM_TEXTS[view.locale.language].new.back}
        back={payoutsPath.to(view)}
        isDisabled={false}
      />
    </form>
  );
}
