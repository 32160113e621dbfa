import { z } from 'zod';
import { CLASS_NAMES } from '../../domain/class-names';
import type { FeeInvoice, InvoiceLine, InvoiceParties, InvoiceParty } from '../../domain/fee-invoice';
import { formatDigits, formatRupiah } from '../../domain/money';
import type { Language } from '../../domain/sign-in';
import { INVOICE_TEXTS, invoiceRateText, NO_TAX_INVOICE, settledText } from './invoice-texts';
import { printable } from './pdf-text';

/** What an invoice in PDF shows. */
export interface InvoiceDocument {
  readonly invoice: FeeInvoice;
  readonly parties: InvoiceParties;
  readonly language: Language;
}

/**
 * The invoice as PDF. The same invoice has the same bytes: the time in it is that of the issue, and `fflate` compresses
 * it. The bytes of zlib would depend on its release and on the processor.
 */
export async function renderInvoicePdf(content: InvoiceDocument): Promise<Buffer> {
  // Loaded with the first PDF: they take 24 MB and 0.2 s.
  const [{ default: PdfDocument }, { zlibSync }] = await Promise.all([import('pdfkit'), import('fflate')]);
  const { invoice, parties, language } = content;
  const document = new PdfDocument({
    size: 'A4',
    margin: 0,
    bufferPages: true,
    compress: false,
    lang: language,
    displayTitle: true,
    info: {
      Title: `${INVOICE_TEXTS[language].kinds[invoice.kind]} ${invoice.number}`,
      Author: parties.company.legalName,
      CreationDate: invoice.issuedAt,
    },
  });
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise((resolve) => document.once('end', resolve));
  drawInvoice(document, content);
  forEachPage(document, ({ content: stream }) => compress(stream, zlibSync));
  document.end();
  await ended;
  return Buffer.concat(chunks);
}

type Pdf = PDFKit.PDFDocument;

function forEachPage(pdf: Pdf, work: (page: PDFKit.PDFPage, index: number, count: number) => void): void {
  const { count } = pdf.bufferedPageRange();
  for (let index = 0; index < count; index += 1) work(pdf.switchToPage(index), index, count);
}

const chunksSchema = z.array(z.instanceof(Uint8Array));

/** A row of the table has about 1,000 bytes, and 50 after it. `buffer` is what pdfkit has collected of a page. */
function compress(stream: PDFKit.PDFKitReference, zlibSync: (bytes: Uint8Array) => Uint8Array): void {
  if (!('buffer' in stream)) throw new Error('pdfkit does not collect the pages of a document any more');
  stream.buffer = [zlibSync(Buffer.concat(chunksSchema.parse(stream.buffer)))];
  Object.assign(stream.data, { Filter: 'FlateDecode' });
}

/** In points. A4 has 595 × 842. */
const LEFT = 48;
const RIGHT = 547;
const MIDDLE = 312;
const TOP = 52;
const BOTTOM = 772;
const FOOTER = 796;
/** The parts of these colours are short numbers in the file, because each text has one. */
const COLOURS = { text: '#000000', dim: '#666666', line: '#cccccc', head: '#eef3f0' } as const;

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size?: number;
  readonly isBold?: boolean;
  readonly isDim?: boolean;
  readonly align?: 'left' | 'right';
}

/** Writes a text into a box. @returns where the next line begins */
function write(pdf: Pdf, text: string, box: Box): number {
  const { x, y, width, align = 'left', isDim = false } = box;
  const lineGap = setFont(pdf, box);
  pdf.fillColor(isDim ? COLOURS.dim : COLOURS.text).text(printable(text), x, y, { width, align, lineGap });
  return pdf.y;
}

function heightOf(pdf: Pdf, text: string, box: Box): number {
  const lineGap = setFont(pdf, box);
  return pdf.heightOfString(printable(text), { width: box.width, lineGap });
}

/** @returns the space between two lines */
function setFont(pdf: Pdf, { size = 9, isBold = false }: Box): number {
  pdf.font(isBold ? 'Helvetica-Bold' : 'Helvetica').fontSize(size);
  return size * 0.2;
}

function rule(pdf: Pdf, y: number, from = LEFT): void {
  pdf.moveTo(from, y).lineTo(RIGHT, y).lineWidth(0.6).strokeColor(COLOURS.line).stroke();
}

function drawInvoice(pdf: Pdf, content: InvoiceDocument): void {
  let y = drawHead(pdf, content);
  y = drawParties(pdf, content, y + 22);
  y = drawLines(pdf, content, y + 24);
  drawSums(pdf, content, y);
  drawFooters(pdf, content);
}

/** `-Rp 350` if it is below zero: the standard fonts have no sign of minus. */
function money(rupiah: number): string {
  return (rupiah < 0 ? '-' : '') + formatRupiah(Math.abs(rupiah));
}

const LOCALES = { id: 'id-ID', en: 'en-GB' } as const satisfies Record<Language, string>;

function inWib(at: Date, language: Language, day?: 'numeric'): string {
  const parts = { day, month: 'long', year: 'numeric', timeZone: 'Asia/Jakarta' } as const;
  return at.toLocaleDateString(LOCALES[language], parts);
}

/** Kind and number at the left, the facts at the right. */
function drawHead(pdf: Pdf, { invoice, language }: InvoiceDocument): number {
  const texts = INVOICE_TEXTS[language];
  const { kind, number, month, part, corrects, issuedAt } = invoice;
  const y = write(pdf, texts.kinds[kind], { x: LEFT, y: TOP, width: 240, size: 22, isBold: true });
  const left = write(pdf, number, { x: LEFT, y: y + 2, width: 240, size: 12, isDim: true });
  const monthName = inWib(new Date(`${month}-15T00:00:00Z`), language);
  const facts: readonly (readonly [string, string])[] = [
    [texts.issuedOn, inWib(issuedAt, language, 'numeric')],
    [texts.month, part === 1 ? monthName : `${monthName}, ${texts.part(part)}`],
    ...(corrects === null ? [] : [[texts.corrects, corrects] as const]),
  ];
  let right = TOP + 5;
  for (const [name, value] of facts) {
    write(pdf, name, { x: MIDDLE, y: right, width: 100, isDim: true });
    right = write(pdf, value, { x: MIDDLE, y: right, width: RIGHT - MIDDLE, align: 'right' }) + 3;
  }
  return Math.max(left, right);
}

/** Who issues the invoice and who receives it, beside each other. */
function drawParties(pdf: Pdf, { parties, language }: InvoiceDocument, y: number): number {
  const texts = INVOICE_TEXTS[language];
  rule(pdf, y);
  const draw = (x: number, title: string, { legalName, address, taxNumber }: InvoiceParty): number => {
    const column = { x, width: RIGHT - MIDDLE };
    let next = write(pdf, title, { ...column, y: y + 12, size: 8, isDim: true });
    next = write(pdf, legalName, { ...column, y: next + 2, size: 10, isBold: true });
    if (address !== null) next = write(pdf, address, { ...column, y: next + 1 });
    if (taxNumber !== null) next = write(pdf, `${texts.taxNumber}: ${taxNumber}`, { ...column, y: next + 1 });
    return next;
  };
  return Math.max(draw(LEFT, texts.company, parties.company), draw(MIDDLE, texts.merchant, parties.merchant));
}

const COLUMNS = [
  { name: 'kind', x: 54, width: 124, align: 'left' },
  { name: 'rate', x: 184, width: 56, align: 'left' },
  { name: 'count', x: 242, width: 48, align: 'right' },
  { name: 'turnover', x: 296, width: 88, align: 'right' },
  { name: 'fee', x: 390, width: 74, align: 'right' },
  { name: 'vat', x: 472, width: 69, align: 'right' },
] as const;
type Cells = Readonly<Record<(typeof COLUMNS)[number]['name'], string>>;

/** A row of the table, and what stands in small letters below its first cell. */
interface Row {
  readonly cells: Cells;
  readonly below: string | null;
}

function rowsOf({ invoice, language }: InvoiceDocument): Row[] {
  const { kind, corrects, feeRupiah, vatRupiah, lines } = invoice;
  const texts = INVOICE_TEXTS[language];
  if (kind === 'invoice') return lines.map((line) => rowOf(line, language));
  const amounts = { fee: money(feeRupiah), vat: money(vatRupiah) };
  return [
    { cells: { kind: texts.correction(corrects ?? ''), rate: '', count: '', turnover: '', ...amounts }, below: null },
  ];
}

/** Between `Rp` and its amount, and before `%`. */
const UNBROKEN = /(?<=Rp) | (?=%)/g;

function rowOf(line: InvoiceLine, language: Language): Row {
  const cells = {
    kind: INVOICE_TEXTS[language].lineKinds[line.kind],
    rate: invoiceRateText(language, line).replaceAll(UNBROKEN, '\u00a0'),
    count: formatDigits(line.count),
    turnover: money(line.turnoverRupiah),
    fee: money(line.feeRupiah),
    vat: money(line.vatRupiah),
  };
  return { cells, below: line.class && CLASS_NAMES[language][line.class] };
}

/** With four lines. */
const MAX_ROW_HEIGHT = 50;
const SUMS_HEIGHT = 140;

/** The table, which goes on on the next page. Its last row is on the page of the sums. */
function drawLines(pdf: Pdf, content: InvoiceDocument, start: number): number {
  const { columns } = INVOICE_TEXTS[content.language];
  let y = drawTableHead(pdf, columns, start);
  const rows = rowsOf(content);
  for (const row of rows) {
    const height = row === rows.at(-1) ? MAX_ROW_HEIGHT + SUMS_HEIGHT : MAX_ROW_HEIGHT;
    if (y > BOTTOM - height) {
      pdf.addPage();
      y = drawTableHead(pdf, columns, TOP);
    }
    y = drawRow(pdf, row, y);
  }
  return y;
}

function drawTableHead(pdf: Pdf, columns: Cells, y: number): number {
  const style = { y: y + 6, size: 8, isBold: true } as const;
  const heights = COLUMNS.map(({ name, ...box }) => heightOf(pdf, columns[name], { ...box, ...style }));
  const height = Math.max(...heights) + 10;
  pdf.rect(LEFT, y, RIGHT - LEFT, height).fill(COLOURS.head);
  for (const { name, ...box } of COLUMNS) write(pdf, columns[name], { ...box, ...style });
  return y + height;
}

function drawRow(pdf: Pdf, { cells, below }: Row, y: number): number {
  const ends = COLUMNS.map(({ name, ...box }) => write(pdf, cells[name], { ...box, y: y + 7 }));
  if (below !== null) {
    const { x, width } = COLUMNS[0];
    ends.push(write(pdf, below, { x, width, y: ends[0] ?? y, size: 8, isDim: true }));
  }
  const end = Math.max(...ends) + 5;
  rule(pdf, end);
  return end;
}

/** The sums below the table, and what the reader must know about them. */
function drawSums(pdf: Pdf, { invoice, language }: InvoiceDocument, end: number): void {
  const texts = INVOICE_TEXTS[language];
  const { feeRupiah, vatRupiah } = invoice;
  let y = end + 10;
  const sum = (name: string, rupiah: number, style: Partial<Box>) => {
    write(pdf, name, { x: MIDDLE, y, width: 120, ...style });
    y = write(pdf, money(rupiah), { x: MIDDLE + 110, y, width: 541 - MIDDLE - 110, align: 'right', ...style }) + 4;
  };
  sum(texts.withoutVat, feeRupiah - vatRupiah, {});
  sum(texts.vat, vatRupiah, {});
  rule(pdf, y + 1, MIDDLE);
  y += 8;
  sum(texts.total, feeRupiah, { size: 11, isBold: true });
  y = write(pdf, settledText(language, invoice), { x: LEFT, y: y + 18, width: RIGHT - LEFT }) + 6;
  for (const line of NO_TAX_INVOICE) y = write(pdf, line, { x: LEFT, y, width: RIGHT - LEFT, isDim: true });
}

/** The number and the SHA-256 of what was issued, on each page. */
function drawFooters(pdf: Pdf, { invoice, language }: InvoiceDocument): void {
  forEachPage(pdf, (_, index, count) => {
    rule(pdf, FOOTER - 8);
    const style = { y: FOOTER, size: 7, isDim: true } as const;
    write(pdf, `${invoice.number} · SHA-256 ${invoice.sha256}`, { ...style, x: LEFT, width: 400 });
    const page = INVOICE_TEXTS[language].page(index + 1, count);
    write(pdf, page, { ...style, x: RIGHT - 90, width: 90, align: 'right' });
  });
}
