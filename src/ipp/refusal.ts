/** Thrown to refuse an operation, with the status and the attributes that the client is told. */
import type { IppAttribute } from '../../drivers/ipp/message.ts';
import type { StatusName } from '../../drivers/ipp/names.ts';

export class IppRefusal extends Error {
  readonly status: StatusName;
  readonly unsupported: readonly IppAttribute[];

  constructor(status: StatusName, message: string, unsupported: readonly IppAttribute[] = []) {
    super(message);
    this.name = 'IppRefusal';
    this.status = status;
    this.unsupported = unsupported;
  }
}
