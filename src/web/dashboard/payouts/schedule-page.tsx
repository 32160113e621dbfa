import type { ReactElement } from 'react';
import { PAYOUT_SCHEDULES, WEEKDAYS } from '../../../domain/payout-schedule';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { Choices } from '../../ui/choices';
import { Field } from '../../ui/form';
import { FormFrame } from '../../ui/form-frame';
import { Select } from '../../ui/select';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { PAYOUT_TEXTS } from './payout-texts';
import { SCHEDULE_TEXTS } from './schedule-texts';

interface SchedulePage {
  readonly view: MerchantView;
  /** Why the member can only end automatic payouts; null: they can change them. */
  readonly rejection: string | null;
  /** Whether a change waits for a second member. */
  readonly isProposed: boolean;
  readonly values: SentFields;
  readonly errors: FieldErrors;
  /** The next automatic payout in words, by what is saved. */
  readonly nextRun: string;
}

export function renderSchedulePage(page: SchedulePage): string {
  return renderMerchantPage(page.view, {
    title: SCHEDULE_TEXTS[page.view.locale.language].title,
    current: 'payouts',
    live: 'none',
    children: <Schedule {...page} />,
  });
}

function Schedule(page: SchedulePage): ReactElement {
  const { view, rejection, errors } = page;
  const texts = SCHEDULE_TEXTS[view.locale.language];
  return (
    <FormFrame
      title={texts.title}
      back={{ href: view.paths.payouts, label: PAYOUT_TEXTS[view.locale.language].title }}
      rejection={rejection}
      errorTitle={texts.errorTitle}
      errors={errors}
    >
      <ScheduleForm {...page} />
    </FormFrame>
  );
}

function ScheduleForm({ view, isProposed, values, errors, nextRun }: SchedulePage): ReactElement {
  const texts = SCHEDULE_TEXTS[view.locale.language];
  const choices = PAYOUT_SCHEDULES.map((name) => ({
    name,
    label: texts.schedules[name],
    isChosen: name === values.schedule,
  }));
  const weekdays = WEEKDAYS.map((day) => ({ value: String(day), label: texts.weekdays[day] }));
  return (
    <form className="card-body stack" method="post" action={view.paths.payoutSchedule}>
      <p className="text">{texts.explanation}</p>
      <p className="text">
        {texts.next}: <span className="strong">{nextRun}</span>
      </p>
      {isProposed && (
        <p className="text">
          {texts.proposal.title}. <a href={view.paths.proposedSchedule}>{texts.proposal.see}</a>
        </p>
      )}
      <Choices name="schedule" kind="radio" label={texts.schedule} choices={choices} error={errors.schedule} />
      <Select
        name="weekday"
        label={texts.weekday}
        value={values.weekday ?? ''}
        options={[{ value: '', label: '–' }, ...weekdays]}
        error={errors.weekday}
      />
      <Field
        name="minimum"
        label={texts.minimum}
        hint={texts.minimumHint}
        value={values.minimum ?? ''}
        error={errors.minimum}
        prefix="Rp"
        inputMode="numeric"
        autoComplete="off"
        maxLength={15}
        required
      />
      <div className="buttons">
        <button className="button primary wide-button">{texts.save}</button>
        <a className="button wide-button" href={view.paths.payouts}>
          {PAYOUT_FORM_TEXTS[view.locale.language].new.back}
        </a>
      </div>
    </form>
  );
}
