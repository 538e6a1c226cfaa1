/** What is sent through the Windows spooler, and must arrive as it is: every byte value, and more than a piece. */
const ALL = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

export const DOCUMENTS: readonly Buffer[] = [
  ALL,
  Buffer.from(Array.from({ length: 300_000 }, (_, place) => (place * 7 + (place >> 8)) & 0xff)),
];
