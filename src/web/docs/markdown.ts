import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml, highlightCode } from './highlight';

/** A heading with the text below it, as far as the next heading. */
export interface Section {
  /** The anchor. */
  readonly id: string;
  readonly level: number;
  readonly title: string;
  /** The text without markup. */
  readonly text: string;
}

export interface RenderedMarkdown {
  readonly html: string;
  readonly sections: readonly Section[];
}

interface RenderOptions {
  /** The address of what a link names. */
  readonly addressOf?: (target: string) => string;
}

/** Markdown as HTML. Comments are left out, and other HTML is shown as text. */
export function renderMarkdown(
  markdown: string,
  { addressOf = (target) => target }: RenderOptions = {},
): RenderedMarkdown {
  const sections = sectionsOf(markdown);
  const anchors = sections.map(({ id }) => id).values();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const id = anchors.next().value ?? '';
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} ${anchorLink(id)}</h${depth}>\n`;
      },
      code: ({ text, lang }) => renderCode(text, lang === '' ? undefined : lang),
      link({ href, tokens }) {
        return `<a href="${escapeHtml(addressOf(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      table({ header, rows }) {
        const parse = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
        return renderTable(
          { names: header.map(parse), titles: header.map(({ text }) => plainText(text)) },
          rows.map((row) => row.map(parse)),
        );
      },
      html: ({ text }) => (text.startsWith('<!--') ? '' : escapeHtml(text)),
      image: ({ text }) => escapeHtml(text),
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { html, sections };
}

interface TableHead {
  readonly names: readonly string[];
  /** The names without markup. */
  readonly titles: readonly string[];
}

/**
 * A table that is wider than the screen scrolls, by keyboard too. On a phone each row is a block, and each cell has the
 * name of its column; the roles keep what the table means.
 */
function renderTable({ names, titles }: TableHead, rows: readonly (readonly string[])[]): string {
  const head = names.map((name) => `<th scope="col" role="columnheader">${name}</th>`).join('');
  const cell = (html: string, index: number) =>
    `<td role="cell" data-name="${escapeHtml(titles[index] ?? '')}">${html}</td>`;
  const body = rows.map((row) => `<tr role="row">${row.map(cell).join('')}</tr>`).join('\n');
  return `<div class="scrollable" tabindex="0" role="group"><table role="table">
<thead role="rowgroup"><tr role="row">${head}</tr></thead>
<tbody role="rowgroup">${body}</tbody>
</table></div>\n`;
}

const anchorLink = (id: string) => `<a class="anchor" href="#${id}" aria-label="Link to this heading">#</a>`;

export function renderCode(code: string, language: string | undefined): string {
  return `<div class="code"><pre tabindex="0"><code>${highlightCode(code, language)}</code></pre></div>\n`;
}

/** What precedes the first heading belongs to no section. */
function sectionsOf(markdown: string): Section[] {
  const sections: { id: string; level: number; title: string; text: string }[] = [];
  const used = new Map<string, number>();
  for (const token of new Marked().lexer(markdown)) {
    if (isHeading(token)) {
      const title = plainText(token.text);
      const slug = slugOf(title);
      const repeats = used.get(slug) ?? 0;
      used.set(slug, repeats + 1);
      sections.push({ id: repeats === 0 ? slug : `${slug}-${repeats}`, level: token.depth, title, text: '' });
    } else {
      const section = sections.at(-1);
      if (section && token.type !== 'space') section.text += `${plainText(token.raw)} `;
    }
  }
  return sections;
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

/** The slug that GitHub derives from a title: links into the documents hold in both. */
function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** The text without markup. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/<!--.*?-->/gs, '')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/^(?:```.*|[ |:-]+)$/gm, '')
    .replaceAll(/`|\*\*/g, '')
    .replaceAll(/(?<!\w)_([^_\n]+)_(?!\w)/g, '$1')
    .replaceAll('|', ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
