/** What is asked of the thread for PDF documents, and what it answers. */
import type { DocumentTemplate } from '../../contract/document-template.ts';
import type { Rect } from '../display-list.ts';
import type { Bitmap } from '../image/bitmap.ts';
import type { PageForm } from '../page-form.ts';

/** A file; its bytes are shared with the thread, not copied for each page. */
export interface PdfFile {
  /** The same bytes have the same key. */
  readonly key: string;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
}

export type PdfOrder = { readonly file: PdfFile } & (
  | { readonly kind: 'pages' }
  | { readonly kind: 'size'; readonly page: number; readonly dpi: number }
  | {
      readonly kind: 'draw';
      readonly page: number;
      readonly dpi: number;
      /** Dots of the page drawn `zoom` times as large. */
      readonly part: Rect;
      readonly zoom: number;
      readonly halftone: DocumentTemplate['page']['halftone'];
      /** True: the part is wanted as vectors too. */
      readonly form: boolean;
    }
);

export interface DrawnPart {
  readonly bitmap: Bitmap;
  /** The same as vectors, with the matrix to these dots. Undefined: only dots were asked for, or only dots are possible. */
  readonly form?: PageForm | undefined;
}

export type PdfPart =
  | { readonly pages: number }
  | { readonly width: number; readonly height: number }
  | DrawnPart;
