/** Draws pages of open PDF documents. */
import { type Canvas, createCanvas } from '@napi-rs/canvas';
import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { Matrix } from '../page-form.ts';

export const POINTS_PER_INCH = 72;

interface PageCut {
  readonly dpi: number;
  /** Dots. */
  readonly width: number;
  readonly height: number;
  /** Maps the page's dots to those of the canvas. */
  readonly transform: Matrix;
}

/** Draws a part of a page on white. The memory is freed once the canvas is made small and the event loop has turned. */
export async function pageCanvas(
  page: PDFPageProxy,
  { dpi, width, height, transform }: PageCut,
): Promise<Canvas> {
  const viewport = page.getViewport({ scale: dpi / POINTS_PER_INCH });
  const canvas = createCanvas(width, height);
  const canvasContext = canvas.getContext('2d');
  canvasContext.fillStyle = '#fff';
  canvasContext.fillRect(0, 0, width, height);
  await page.render({ canvas, canvasContext, viewport, transform: [...transform], intent: 'print' }).promise;
  return canvas;
}
