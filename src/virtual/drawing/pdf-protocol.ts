/** The requests and replies of the thread for PDF pages. */

/** A document of which pages are drawn; its bytes are shared with the thread, not copied for each page. */
export interface PdfDocument {
  readonly key: number;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
}

export interface PdfPageRequest {
  readonly id: number;
  readonly document: PdfDocument;
  /** From 1. */
  readonly page: number;
  readonly dpi: number;
  /** Media, dots. */
  readonly width: number;
  readonly height: number;
  /** Clockwise, degrees. */
  readonly rotation: 0 | 90 | 180 | 270;
  /** Shrink or grow the page to the media, or draw it in its own size. */
  readonly fit: boolean;
}

/** Why a document cannot be printed, in the words of job-state-reasons (RFC 8011 §5.3.8, PWG 5100.13). */
export type DocumentFault =
  | 'document-format-error'
  | 'document-password-error'
  | 'document-unprintable-error';

export type PdfPageReply = { readonly id: number } & (
  | { readonly png: Uint8Array; readonly pages: number }
  | { readonly fault: DocumentFault; readonly message: string }
);
