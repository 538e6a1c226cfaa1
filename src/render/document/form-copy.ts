/**
 * Takes a page out of a stranger's PDF as a form. Only what draws goes with it, by the names of a list: no script, action,
 * link, attachment or other file, and nothing that a printer would do and a screen would not (PostScript, pictures for
 * printing alone, transfer functions).
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

/** The most that a form may have with all that it draws with, bytes: its picture is smaller. */
const LARGEST = 16 * 1024 * 1024;

/** Something that cannot go with a form. */
class Unembeddable extends Error {}

/** @throws what the library throws for a file that it cannot read, or only with a key */
export async function openForForms(bytes: Uint8Array): Promise<PDFDocument> {
  // Waiting now and then is for who has one thread.
  return await PDFDocument.load(bytes, { updateMetadata: false, parseSpeed: Number.POSITIVE_INFINITY });
}

/**
 * @param box the part of the page that is drawn, in the page's own coordinates
 * @throws something of the page cannot go with a form
 */
export function formOf(document: PDFDocument, page: number, box: Rect): Pick<PageForm, 'objects' | 'form'> {
  const { node } = document.getPage(page - 1);
  const copy = new FormCopy(document.context);
  return { form: copy.form(node, box), objects: copy.objects };
}

const namesIn = (text: string) => new Set(text.trim().split(/\s+/));

/** What is taken of a dictionary, whatever it describes. */
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
/** What is taken of a page's or form's resources: each has objects by names that the author chose. */
const RESOURCES = namesIn('Font XObject ExtGState ColorSpace Pattern Shading');
/** These have names that the author chose, in other dictionaries. */
const NAMED = namesIn('CharProcs Colorants');

/** Layers and other marks in the content: that they are there is all that is taken, and so all layers are seen. */
const MARKS = 'Properties';

/** An `ObjectText` that is being written. */
type Parts = ObjectText[number][];

/** By what a dictionary's entries are chosen. */
type Kind = 'described' | 'resources' | 'named';

/** Every device has these fonts (ISO 32000-1 §9.6.2.2). */
const STANDARD = namesIn(`
  Times-Roman Times-Bold Times-Italic Times-BoldItalic Helvetica Helvetica-Bold Helvetica-Oblique Helvetica-BoldOblique
  Courier Courier-Bold Courier-Oblique Courier-BoldOblique Symbol ZapfDingbats
`);
const FONT_FILES = ['FontFile', 'FontFile2', 'FontFile3'];
/** Fonts whose glyphs are in a file. */
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

  /** Of a page's content, which may be in several streams: a word never goes on in the next. */
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

  /** @returns the object's ID. It is another where the same object is read in another way. */
  #object(reference: PDFRef, kind: Kind): string {
    const id = `${reference.tag} ${kind}`;
    if (this.objects.has(id)) return id;
    const text: Parts = [];
    // It may lead to itself.
    this.objects.set(id, text);
    this.#write(this.#context.lookup(reference) ?? PDFNull, kind, text);
    this.objects.set(id, joined(text));
    return id;
  }

  /** A dictionary, but for its end. */
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
    // Where a form, pattern or font has none, readers differ in which they take instead.
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

  /** The end of a stream's dictionary, and what is in the stream. */
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

/** Few long texts are handed to another thread sooner than many short ones. */
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

/** @throws Unembeddable for what a printer would draw otherwise than we do */
function requireDrawn(dict: PDFDict, subtype: string | undefined): void {
  if (subtype === 'PS' || nameIn(dict, 'Subtype2') === 'PS') throw new Unembeddable('PostScript');
  if (subtype === undefined || !OUTLINED.has(subtype)) return;
  const descriptor = dict.lookup(PDFName.of('FontDescriptor'));
  if (descriptor instanceof PDFDict && FONT_FILES.some((file) => descriptor.has(PDFName.of(file)))) return;
  if (subtype.startsWith('CID') || !STANDARD.has(nameIn(dict, 'BaseFont') ?? ''))
    throw new Unembeddable('font');
}
