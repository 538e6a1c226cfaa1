/** The npm package `ipp` has no types of its own; this is what the tests use of it. */
declare module 'ipp' {
  export function parse(message: Buffer): Record<string, unknown>;
  export function serialize(message: Record<string, unknown>): Buffer;
}
