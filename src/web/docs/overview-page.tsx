import { Contents, Html, Method, renderFrame, type Heading, type MenuGroup, type MenuPage } from './frame';

interface OverviewPageProps {
  readonly text: string;
  readonly headings: readonly Heading[];
  readonly operations: readonly MenuPage[];
  readonly menu: readonly MenuGroup[];
}

export function renderOverviewPage({ text, headings, operations, menu }: OverviewPageProps): string {
  return renderFrame({
    title: 'API reference',
    path: '/docs/api',
    menu,
    children: (
      <div className="reading">
        <article>
          <h1>API reference</h1>
          <Html className="prose" html={text} />
          <h2 id="operations">Operations</h2>
          <ul className="operations card">
            {operations.map(({ path, title, method }) => (
              <li key={path}>
                <a href={path}>{title}</a>
                {method && <Method method={method} />}
              </li>
            ))}
          </ul>
        </article>
        <Contents headings={[...headings, { id: 'operations', title: 'Operations' }]} />
      </div>
    ),
  });
}
