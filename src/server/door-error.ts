/** An error at one of the doors (IPP, PrintNode's interface, Labelary's), which answer errors in a form of their own. */
export class DoorError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;

  constructor(status: number, message: string, headers: Record<string, string | number> = {}) {
    super(message);
    this.name = 'DoorError';
    this.status = status;
    this.headers = headers;
  }

  /** Asks for a key by Basic authentication. */
  static unauthorized(message: string): DoorError {
    return new DoorError(401, message, { 'www-authenticate': 'Basic realm="platen"' });
  }
}
