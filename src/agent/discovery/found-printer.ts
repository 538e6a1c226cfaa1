/** One printer as the agent knows it: who it is, where it is, how it is. */
import type { DeviceStatus } from '../../../drivers/languages/device.ts';
import type { PrinterDescription, PrinterReason, PrinterState } from '../../contract/printer.ts';
import type { AgentConfig } from '../config.ts';
import type { Confirmation } from '../confirmation.ts';
import type { PrinterDevice } from '../printer-device.ts';
import { fingerprintOf } from './fingerprints.ts';
import { formatsOf } from './formats.ts';
import { addressOf, printerIdOf } from './identity.ts';
import type { KnownPrinter } from './known-printers.ts';

export class FoundPrinter {
  readonly id: string;
  readonly device: PrinterDevice;
  known: KnownPrinter;
  online: boolean;
  /** When it was last there, ms since the epoch. */
  seenAt: number;
  state: PrinterState = 'unknown';
  reasons: readonly PrinterReason[] = [];

  /** Offline until it is seen. */
  constructor(known: KnownPrinter, device: PrinterDevice, seenAt: number) {
    this.id = known.id;
    this.known = known;
    this.device = device;
    this.online = false;
    this.seenAt = seenAt;
    device.answers = known.answers;
    device.expected = known.identity === null ? null : printerIdOf(known.identity);
  }

  /** Takes over what is known by now. */
  learn(known: KnownPrinter): void {
    this.known = known;
    this.device.answers ||= known.answers;
    this.device.expected = known.identity === null ? null : printerIdOf(known.identity);
    this.device.moveTo(known.candidate.uri);
  }

  /** null: it could not be asked. */
  status(status: DeviceStatus | null): void {
    this.state = status?.state ?? 'unknown';
    this.reasons = status?.reasons ?? [];
  }

  /** As set for it, for its model, or for all of the agent's printers. */
  confirmation({ discovery, confirmation }: Pick<AgentConfig, 'discovery' | 'confirmation'>): Confirmation {
    const { candidate, identity } = this.known;
    const model = identity?.model === undefined ? {} : { model: identity.model };
    const line = fingerprintOf({ ...candidate.evidence, ...model }, discovery.fingerprints);
    return candidate.confirmation ?? line.confirmation ?? confirmation;
  }

  describe(): PrinterDescription {
    const { candidate, identity } = this.known;
    const uri = addressOf(candidate.uri);
    return {
      id: this.id,
      name: (candidate.name ?? identity?.name ?? identity?.model ?? new URL(uri).host).slice(0, 200),
      evidence: evidenceOf(this.id),
      uri,
      ...(identity?.model === undefined ? {} : { model: identity.model.slice(0, 200) }),
      state: this.online ? this.state : 'unknown',
      reasons: this.online ? [...this.reasons] : ['offline'],
      formats: formatsOf(candidate, identity),
    };
  }
}

const EVIDENCE = ['serial', 'uuid', 'device-id', 'mac', 'queue', 'address'] as const;

/** What the ID says it was made from. */
function evidenceOf(id: string): PrinterDescription['evidence'] {
  return EVIDENCE.find((evidence) => id.startsWith(`${evidence}-`)) ?? 'address';
}
