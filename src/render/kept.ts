/** Values that are kept under a key for later use, as long as there is room for them. */
export interface Kept<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): unknown;
}
