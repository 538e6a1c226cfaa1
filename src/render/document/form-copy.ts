/**
 * Takes a page out of a stranger's PDF as a form. Only entries whose names are in a list are taken, and these only draw. So no
 * script, action, link, attachment or other file comes along, and nothing that a printer would do and a screen would not
 * (PostScript, pictures only for printing, transfer functions).
 */
import { deflateSync } from 'node:zlib';
import {
  decodePDFRawStream,
  PDFArray,
  PDFBool,
  type PDFContext,
  PDFDict,
  PDFDocument,
  PDFHexString,
  PDFName,
  PDFNull,
  PDFNumber,
  type PDFObject,
  type PDFPageLeaf,
  PDFRawStream,
  PDFRef,
  PDFString,
} from '@cantoo/pdf-lib';
import type { Rect } from '../display-list.ts';
import { type ObjectText, type PageForm, pdfNumbers } from '../page-form.ts';

/** The most bytes of a form with all that it draws with. For a larger one, the page's picture is smaller. */
const LARGEST = 16 * 1024 * 1024;

/** Thrown for something that cannot be put into a form. */
class Unembeddable extends Error {}

/** @throws what the library throws for a file that it cannot read at all, or not without a key */
export async function openForForms(bytes: Uint8Array): Promise<PDFDocument> {
  // The library would pause now and then to let others work. This thread has no other work.
  return await PDFDocument.load(bytes, { updateMetadata: false, parseSpeed: Number.POSITIVE_INFINITY });
}

/**
 * @param box the part of the page that is drawn, in the page's own coordinates
 * @throws if something on the page cannot be put into a form
 */
export function formOf(document: PDFDocument, page: number, box: Rect): Pick<PageForm, 'objects' | 'form'> {
  const { node } = document.getPage(page - 1);
  const copy = new FormCopy(document.context);
  return { form: copy.form(node, box), objects: copy.objects };
}

const namesIn = (text: string) => new Set(text.trim().split(/\s+/));

/** The entries that are taken from a dictionary, whatever it describes. */
const TAKEN = namesIn(`
  Type Subtype Filter DecodeParms Predictor Colors Columns EarlyChange K EndOfLine EncodedByteAlign Rows EndOfBlock BlackIs1
  DamagedRowsBeforeError JBIG2Globals ColorTransform
  Width Height ColorSpace BitsPerComponent ImageMask Mask Decode Interpolate SMask SMaskInData Matte
  FormType BBox Matrix Resources Group S CS I K G BC
  Name BaseFont FirstChar LastChar Widths FontDescriptor Encoding ToUnicode DescendantFonts CIDSystemInfo DW W DW2 W2
  CIDToGIDMap FontBBox FontMatrix CharProcs BaseEncoding Differences CMapName UseCMap WMode Registry Ordering Supplement
  FontName FontFamily FontStretch FontWeight Flags ItalicAngle Ascent Descent Leading CapHeight XHeight StemV StemH AvgWidth
  MaxWidth MissingWidth FontFile FontFile2 FontFile3 CharSet CIDSet Length1 Length2 Length3
  N Alternate Range WhitePoint BlackPoint Gamma Colorants Process Components
  LW LC LJ ML D RI Font BM CA ca AIS TK SA
  PatternType PaintType TilingType XStep YStep Shading ExtGState ShadingType Background AntiAlias Function Coords Extend
  Domain BitsPerCoordinate BitsPerFlag VerticesPerRow
  FunctionType Size BitsPerSample Order Encode C0 C1 Functions Bounds
`);
/** The entries that are taken from a page's or form's resources. Each holds objects under names that the author chose. */
const RESOURCES = namesIn('Font XObject ExtGState ColorSpace Pattern Shading');
/** Entries of other dictionaries that hold objects under names that the author chose. */
const NAMED = namesIn('CharProcs Colorants');

/** Layers and other marks in the content. Only their names are taken, not what they say, so that all layers are visible. */
const MARKS = 'Properties';

/** An `ObjectText` that is being written. */
type Parts = ObjectText[number][];

/** How a dictionary is read, which decides the entries that are taken. */
type Kind = 'described' | 'resources' | 'named';

/** Every device has these fonts (ISO 32000-1 §9.6.2.2). */
const STANDARD = namesIn(`
  Times-Roman Times-Bold Times-Italic Times-BoldItalic Helvetica Helvetica-Bold Helvetica-Oblique Helvetica-BoldOblique
  Courier Courier-Bold Courier-Oblique Courier-BoldOblique Symbol ZapfDingbats
`);
const FONT_FILES = ['FontFile', 'FontFile2', 'FontFile3'];
/** Kinds of fonts whose glyphs are in a font file. */
const OUTLINED = namesIn('Type1 MMType1 TrueType CIDFontType0 CIDFontType2');

class FormCopy {
  readonly objects = new Map<string, ObjectText>();
  readonly #context: PDFContext;
  #bytes = 0;

  constructor(context: PDFContext) {
    this.#context = context;
  }

  form(page: PDFPageLeaf, { x, y, width, height }: Rect): ObjectText {
    const box = pdfNumbers([x, y, x + width, y + height]);
    const text: Parts = [`<</Type/XObject/Subtype/Form/BBox[${box}]/Resources `];
    const resources = page.getInheritableAttribute(PDFName.Resources);
    if (resources === undefined) text.push('<<>>');
    else this.#write(resources, 'resources', text);
    const group = page.get(PDFName.of('Group'));
    if (group !== undefined) {
      text.push('/Group ');
      this.#write(group, 'described', text);
    }
    const contents = page.Contents();
    const [only, ...more] = contents instanceof PDFArray ? contents.asArray() : [contents];
    const stream = only instanceof PDFRef ? this.#context.lookup(only) : only;
    if (stream instanceof PDFRawStream && more.length === 0) {
      for (const key of ['Filter', 'DecodeParms']) this.#entry(key, stream.dict, 'described', text);
      this.#stream(stream.contents, text);
    } else {
      const parts = [only, ...more].map((part) => this.#decoded(part));
      text.push('/Filter/FlateDecode');
      this.#stream(deflateSync(Buffer.concat(parts)), text);
    }
    return joined(text);
  }

  /** Decodes one of the streams of a page's content, and ends it with a line, because no word goes on in the next stream. */
  #decoded(part: PDFObject | undefined): Buffer {
    const stream = part instanceof PDFRef ? this.#context.lookup(part) : part;
    if (stream === undefined) return Buffer.alloc(0);
    if (!(stream instanceof PDFRawStream)) throw new Unembeddable('content');
    return Buffer.concat([decodePDFRawStream(stream).decode(), Buffer.from('\n')]);
  }

  #write(value: PDFObject, kind: Kind, text: Parts): void {
    if (value instanceof PDFRef) text.push({ to: this.#object(value, kind) });
    else if (value instanceof PDFArray) {
      text.push('[');
      for (const part of value.asArray()) {
        this.#write(part, 'described', text);
        text.push(' ');
      }
      text.push(']');
    } else if (value instanceof PDFRawStream) {
      this.#head(value.dict, kind, text);
      this.#stream(value.contents, text);
    } else if (value instanceof PDFDict) {
      this.#head(value, kind, text);
      text.push('>>');
    } else if (
      value instanceof PDFName ||
      value instanceof PDFNumber ||
      value instanceof PDFBool ||
      value instanceof PDFString ||
      value instanceof PDFHexString ||
      value === PDFNull
    )
      text.push(this.#counted(value.toString()));
    else throw new Unembeddable('object');
  }

  /** @returns the object's ID. If the same object is also read in another way, it gets another ID for that. */
  #object(reference: PDFRef, kind: Kind): string {
    const id = `${reference.tag} ${kind}`;
    if (this.objects.has(id)) return id;
    const text: Parts = [];
    // It is known before it is written, because an object may refer to itself.
    this.objects.set(id, text);
    this.#write(this.#context.lookup(reference) ?? PDFNull, kind, text);
    this.objects.set(id, joined(text));
    return id;
  }

  /** Writes a dictionary without its end. */
  #head(dict: PDFDict, kind: Kind, text: Parts): void {
    const subtype = nameIn(dict, 'Subtype');
    if (kind === 'described') requireDrawn(dict, subtype);
    text.push('<<');
    const taken = kind === 'resources' ? RESOURCES : TAKEN;
    for (const name of dict.keys()) {
      const key = name.decodeText();
      if (kind === 'named') {
        text.push(this.#counted(`${name.toString()} `));
        this.#write(dict.get(name) ?? PDFNull, 'described', text);
      } else if (kind === 'resources' && key === MARKS) text.push(this.#marks(dict.lookup(name)));
      else if (taken.has(key)) this.#entry(key, dict, kind, text);
    }
    // If a form, pattern or font has no resources of its own, readers differ in which they take instead.
    const draws = subtype === 'Form' || subtype === 'Type3' || dict.has(PDFName.of('PaintType'));
    if (kind === 'described' && draws && !dict.has(PDFName.Resources)) text.push('/Resources<<>>');
  }

  #marks(marks: PDFObject | undefined): string {
    const names = marks instanceof PDFDict ? marks.keys() : [];
    return this.#counted(`/${MARKS} <<${names.map((name) => `${name.toString()}<<>>`).join('')}>>`);
  }

  #entry(key: string, dict: PDFDict, kind: Kind, text: Parts): void {
    const value = dict.get(PDFName.of(key));
    if (value === undefined) return;
    text.push(`/${key} `);
    const named = kind === 'resources' || NAMED.has(key);
    this.#write(value, named ? 'named' : key === 'Resources' ? 'resources' : 'described', text);
  }

  /** Writes the end of a stream's dictionary, and the stream's contents. */
  #stream(contents: Uint8Array, text: Parts): void {
    const bytes = Buffer.from(contents.buffer, contents.byteOffset, contents.length).toString('latin1');
    text.push(`/Length ${bytes.length}>>stream\n`, this.#counted(bytes), '\nendstream');
  }

  #counted(text: string): string {
    this.#bytes += text.length;
    if (this.#bytes > LARGEST) throw new Unembeddable('size');
    return text;
  }
}

/** Joins texts that follow one another, because a few long texts go to another thread faster than many short ones. */
function joined(parts: Parts): ObjectText {
  const text: Parts = [];
  let run: string[] = [];
  for (const part of parts) {
    if (typeof part === 'string') run.push(part);
    else {
      text.push(run.join(''), part);
      run = [];
    }
  }
  text.push(run.join(''));
  return text;
}

function nameIn(dict: PDFDict, key: string): string | undefined {
  const name = dict.lookup(PDFName.of(key));
  return name instanceof PDFName ? name.decodeText() : undefined;
}

/** @throws Unembeddable for what a printer would draw differently from us */
function requireDrawn(dict: PDFDict, subtype: string | undefined): void {
  if (subtype === 'PS' || nameIn(dict, 'Subtype2') === 'PS') throw new Unembeddable('PostScript');
  if (subtype === undefined || !OUTLINED.has(subtype)) return;
  const descriptor = dict.lookup(PDFName.of('FontDescriptor'));
  if (descriptor instanceof PDFDict && FONT_FILES.some((file) => descriptor.has(PDFName.of(file)))) return;
  if (subtype.startsWith('CID') || !STANDARD.has(nameIn(dict, 'BaseFont') ?? ''))
    throw new Unembeddable('font');
}
