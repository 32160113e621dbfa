import { z } from 'zod';
import { closeOwnLink } from '../../../services/links/close-link';
import { ConfirmPage } from '../../ui/confirm-page';
import { memberFormPages } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import { linkAmountText } from './link-parts';
import { closeLinkPath, linkPath } from './link-paths';
import { LINK_TEXTS } from './link-texts';

export const closeLinkPages = memberFormPages({
  at: closeLinkPath,
  operation: closeOwnLink,
  path: ({ link }) => ({ link }),
  fields: () => z.object({}),
  errors: ({ locale }) => LINK_TEXTS[locale.language].form.errors,
  rejections: () => ({}),
  done: ({ referenceId }, { view }) => linkPath.to({ ...view, link: referenceId }, { done: 'closed' }),
  render({ view, subject: link, formId, rejection }) {
    const { closing, columns, detail } = LINK_TEXTS[view.locale.language];
    const path = { ...view, link: link.referenceId };
    const facts = [
      { name: columns.title, value: <bdi>{link.title}</bdi> },
      { name: columns.amount, value: linkAmountText(view, link) },
    ];
    const children = (
      <ConfirmPage
        {...closing}
        button={detail.close}
        back={{ href: linkPath.to(path), label: link.title }}
        facts={facts}
        action={closeLinkPath.to(path)}
        fields={{ form_id: formId }}
        tone="danger"
        rejection={rejection}
      />
    );
    return renderMerchantPage(view, { title: closing.title, current: 'payments', live: 'none', children });
  },
});
