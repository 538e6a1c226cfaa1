/** What is kept for later use, by a hash, as long as there is room for it. */
export interface Kept<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): unknown;
}
