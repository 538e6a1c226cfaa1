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

/** An error as PrintNode answers it. */
export function errorBody(status: number, message: string, uid: string) {
  return { uid, code: CODES[status] ?? (status < 500 ? 'BadRequest' : 'InternalError'), message };
}
