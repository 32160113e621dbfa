import type { ReactElement } from 'react';
import { drawQrisPath } from '../../../qris/image';
import { requireLink } from '../../../services/links/close-link';
import { orNoPage } from '../../page/page-error';
import { memberPage, NO_FIELDS } from '../../page/page-route';
import { PageHead } from '../../ui/layout';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderMerchantPage } from '../merchant-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { linkAmountText } from './link-parts';
import { linkCardPath, linkPath } from './link-paths';
import { LINK_TEXTS } from './link-texts';

/** A sheet of A6 to print. Its code is the address of the link, which is no QRIS. */
export const showLinkCard = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: linkCardPath.pattern,
    fields: NO_FIELDS,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'linkAddresses'>, visit) {
      const view = merchantView(dependencies, visit);
      const path = linkCardPath.read(visit.request.params);
      const link = await requireLink(dependencies.db, visit.member, path.link).catch(orNoPage);
      const card = {
        view,
        title: link.title,
        amount: linkAmountText(view, link),
        back: linkPath.to({ ...view, link: link.referenceId }),
        url: await dependencies.linkAddresses.urlOf(link),
      };
      const title = LINK_TEXTS[view.locale.language].detail.card;
      const children = <LinkCard {...card} />;
      return pageResponse(renderMerchantPage(view, { title, current: 'payments', live: 'none', children }));
    },
  },
);

interface LinkCardProps {
  readonly view: MerchantView;
  readonly title: string;
  readonly amount: string;
  readonly back: string;
  readonly url: string;
}

function LinkCard({ view, title, amount, back, url }: LinkCardProps): ReactElement {
  const { sheet, detail } = LINK_TEXTS[view.locale.language];
  const { size, path } = drawQrisPath(url);
  return (
    <>
      <div className="no-print">
        <PageHead title={detail.card} back={{ href: back, label: sheet.back }}>
          <button type="button" className="button primary" data-print="" hidden>
            {sheet.print}
          </button>
        </PageHead>
      </div>
      <section className="link-sheet">
        <p className="shop">{view.merchantName}</p>
        <p className="title">
          <bdi>{title}</bdi>
        </p>
        <p className="amount">{amount}</p>
        <svg role="img" aria-label={sheet.codeName} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
          <rect width={size} height={size} fill="#fff" />
          <path d={path} fill="#000" />
        </svg>
        <p className="scan">{sheet.scan}</p>
        <p>{sheet.notQris}</p>
      </section>
    </>
  );
}
