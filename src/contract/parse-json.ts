/**
 * `JSON.parse` of Node 24 and 26 can misread a name that is written with escapes: if what was read before, anybody's, had a name
 * that equals the beginning of what is written, it returns that one: `Gr\u0` for `"Gr\u00f6\u00dfe"`, `a\"` for `"a\"b"`
 * (nodejs/node#63785). So each such name is replaced by a random one before it parses, and put back afterwards. Whatever reads
 * records, whose names are their senders', reads them with this.
 */

/** Work that can pause wherever it yields. */
type Long<T> = Generator<undefined, T>;

/** Characters between two pauses. */
const LONG = 100_000;

const [QUOTE, COLON, BACKSLASH] = [0x22, 0x3a, 0x5c];

/** What `JSON.parse` is to give. @throws SyntaxError */
export function parseJson(text: string): unknown {
  const work = parseAtLength(text);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** `parseJson` with pauses. @throws SyntaxError */
export function* parseAtLength(text: string): Long<unknown> {
  const { plain, names } = yield* withoutEscapedNames(text);
  const value: unknown = JSON.parse(plain);
  yield;
  if (names.size > 0) yield* giveBack(value, names);
  return value;
}

/** @returns the text with the replacements, and the names by their replacements */
function* withoutEscapedNames(text: string): Long<{ plain: string; names: ReadonlyMap<string, string> }> {
  const names = new Map<string, string>();
  if (!text.includes('\\')) return { plain: text, names };
  // `randomUUID` is not in a browser's page that came over http.
  const secret = crypto.getRandomValues(new Uint32Array(4)).join('-');
  const pieces: string[] = [];
  let taken = 0;
  let [start, end] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    if (at % LONG === 0) yield;
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      start = at;
      end = endOfString(text, at);
      at = end;
    } else if (code === COLON && start < end) {
      if (text.slice(start, end).includes('\\')) {
        const name = unescaped(text.slice(start, end + 1));
        // What is no JSON is left as it is: it is refused, and the place named.
        if (name === undefined) break;
        const substitute = `${secret}-${names.size}`;
        names.set(substitute, name);
        pieces.push(text.slice(taken, start), `"${substitute}"`);
        taken = end + 1;
      }
      // Each string is looked at once, however many colons follow it.
      start = end;
    }
  }
  pieces.push(text.slice(taken));
  return { plain: pieces.join(''), names };
}

function unescaped(string: string): string | undefined {
  try {
    return String(JSON.parse(string));
  } catch {
    return undefined;
  }
}

/** Puts the names back in place of their replacements; the members keep their order. */
function* giveBack(value: unknown, names: ReadonlyMap<string, string>): Long<void> {
  const holders = [value];
  for (let at = 0; at < holders.length; at++) {
    const holder = holders[at];
    if (typeof holder !== 'object' || holder === null) continue;
    const members: [string, unknown][] = Object.entries(holder);
    for (const [, member] of members) if (typeof member === 'object' && member !== null) holders.push(member);
    if (members.some(([name]) => names.has(name))) {
      for (const [name] of members) Reflect.deleteProperty(holder, name);
      for (const [name, member] of members) {
        const own = { value: member, writable: true, enumerable: true, configurable: true };
        Object.defineProperty(holder, names.get(name) ?? name, own);
      }
    }
    yield;
  }
}

/** The index of the quote that ends the string at `start`; the text's length where there is none. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    if (end < 0) return text.length;
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
}
