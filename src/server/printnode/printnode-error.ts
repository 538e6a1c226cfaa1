/** An error as PrintNode answers it: a status, and a JSON body of `uid`, `code` and `message`. */
export class PrintNodeError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'PrintNodeError';
    this.status = status;
    this.headers = headers;
  }
}

const CODES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  409: 'Conflict',
  413: 'PayloadTooLarge',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
};

export function errorBody(status: number, message: string, uid: string) {
  return { uid, code: CODES[status] ?? (status < 500 ? 'BadRequest' : 'InternalError'), message };
}
