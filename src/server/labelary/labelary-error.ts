/** An error as Labelary answers it: a status, and a line of text. */
export class LabelaryError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;

  constructor(status: number, message: string, headers: Record<string, string | number> = {}) {
    super(message);
    this.name = 'LabelaryError';
    this.status = status;
    this.headers = headers;
  }
}

/** 400 for what is not as expected. */
export function wrong(what: string, expected: string): LabelaryError {
  return new LabelaryError(400, `${what} is not as expected: ${expected}`);
}
