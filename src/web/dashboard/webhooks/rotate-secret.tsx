import type { ReactElement } from 'react';
import { z } from 'zod';
import { rotateSecret } from '../../../services/webhooks/rotate-secret';
import { Choices } from '../../ui/choices';
import { ConfirmPage } from '../../ui/confirm-page';
import { renderDeveloperPage } from '../developer-page';
import { memberFormPages, type FormPage } from '../form-pages';
import { endpointFacts, originOf, type ShownEndpoint } from './endpoint-parts';
import { secretPage } from './secret-page';
import { ENDPOINT_ACTION_PATHS, endpointPath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

/** For how many hours an old secret signs beside its new one. */
const SECRET_OVERLAPS = ['0', '1', '24', '72'] as const;
const FIRST_OVERLAP = '24';

const rotateFields = z
  .object({ overlap: z.enum(SECRET_OVERLAPS, { error: 'form' }).default(FIRST_OVERLAP) })
  .transform(({ overlap }) => ({ overlapSeconds: Number(overlap) * 3_600 }));

export const rotateSecretPages = memberFormPages({
  at: ENDPOINT_ACTION_PATHS.rotate,
  operation: rotateSecret,
  path: ({ endpoint }) => ({ endpoint }),
  fields: () => rotateFields,
  errors: ({ locale }) => WEBHOOK_TEXTS[locale.language].form.errors,
  rejections: ({ locale }) => ({ form_reused: () => WEBHOOK_TEXTS[locale.language].form.errors.form }),
  done({ endpoint: { id, secret, oldSecretExpiresAt }, isOldEnded }, { view }) {
    const oldSecret = isOldEnded ? 'ended' : oldSecretExpiresAt;
    return secretPage({ view, endpointId: id, secret, oldSecret, duplicateOf: null });
  },
  render: (page) =>
    renderDeveloperPage(page.view, {
      title: WEBHOOK_TEXTS[page.view.locale.language].confirm.rotate.title,
      section: 'webhooks',
      live: 'none',
      children: <RotateSecret {...page} />,
    }),
});

function RotateSecret({ view, subject, formId, rejection }: FormPage<ShownEndpoint>): ReactElement {
  const { confirm, rotate, form } = WEBHOOK_TEXTS[view.locale.language];
  const path = { code: view.code, endpoint: subject.id };
  const overlaps = SECRET_OVERLAPS.map((name) => ({
    name,
    label: rotate.overlaps[name],
    isChosen: name === FIRST_OVERLAP,
  }));
  return (
    <ConfirmPage
      title={confirm.rotate.title}
      back={{ href: endpointPath.to(path), label: originOf(subject.url) }}
      facts={endpointFacts(view, subject)}
      explanation={confirm.rotate.text}
      action={ENDPOINT_ACTION_PATHS.rotate.to(path)}
      button={confirm.rotate.button}
      cancel={form.cancel}
      tone="primary"
      fields={{ form_id: formId }}
      rejection={rejection}
      question={<Choices name="overlap" kind="radio" label={rotate.overlap} choices={overlaps} />}
    />
  );
}
