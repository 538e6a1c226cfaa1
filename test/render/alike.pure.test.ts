/** When two pictures show the same. */
import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { expect, test } from 'vitest';
import { alike } from '../../src/render/image/alike.ts';

function drawn(draw: (context: SKRSContext2D) => void, width = 60, height = 40): Canvas {
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.fillStyle = '#000';
  draw(context);
  return canvas;
}

const box = (x: number, y: number, width: number, height: number, colour = '#000') =>
  drawn((context) => {
    context.fillStyle = colour;
    context.fillRect(x, y, width, height);
  });

test.each<[string, Canvas, Canvas]>([
  ['nothing', box(0, 0, 0, 0), box(0, 0, 0, 0)],
  ['an edge that runs through a pixel', box(10, 10, 20, 10), box(10.5, 10, 20, 10)],
  ['a pixel to the side', box(10, 10, 20, 10), box(11, 10, 20, 10)],
  ['hardly another colour', box(10, 10, 20, 10, '#fff'), box(10, 10, 20, 10, '#f8f8f8')],
])('alike: %s', (_, one, other) => {
  expect(alike(one, other)).toBe(true);
  expect(alike(other, one)).toBe(true);
});

test.each<[string, Canvas, Canvas]>([
  ['two pixels to the side', box(10, 10, 20, 10), box(12, 10, 20, 10)],
  ['a hairline is missing', box(0, 0, 0, 0), box(10, 10, 1, 10)],
  ['a dot in the last corner is missing', box(0, 0, 0, 0), box(59, 39, 1, 1)],
  ['a light ground is missing', box(0, 0, 0, 0), box(10, 10, 20, 10, '#eee')],
  ['another colour of the same brightness', box(10, 10, 20, 10, '#f00'), box(10, 10, 20, 10, '#00f')],
  ['another size', box(0, 0, 0, 0), drawn(() => undefined, 61)],
])('not alike: %s', (_, one, other) => {
  expect(alike(one, other)).toBe(false);
  expect(alike(other, one)).toBe(false);
});

test('a picture of many bands is looked at to its end', () => {
  const tall = (y: number) => drawn((context) => context.fillRect(500, y, 4, 1), 1_000, 3_500);
  for (let y = 990; y < 1_010; y++) expect(alike(tall(y), tall(y + 1))).toBe(true);
  expect(alike(tall(999), tall(1_001))).toBe(false);
  expect(alike(tall(3_499), tall(3_497))).toBe(false);
});
