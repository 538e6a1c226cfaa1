/** Words of printers that people add by their address. */
import type { LanguageId } from '../../../src/contract/format.ts';

export const addedWords = {
  title: 'Add a printer',
  open: 'Open',
  add: 'Add',
  address: 'Address',
  addressHint:
    'IP address or name in the network, with the port if it is not 9100. IPP: ipp://printer.local/ipp/print',
  agent: 'Agent',
  agentHint: 'It stands in the printer’s network, and drives the printer from now on.',
  noAgent: 'No agent is here that could reach a printer. Start one beside the printers first.',
  name: 'Name',
  nameHint: 'Empty: as the printer calls itself.',
  more: 'Where the printer does not say it itself',
  moreHint: 'Most label printers say their resolution and media. What is set here wins.',
  language: 'Speaks',
  languages: {
    zpl: 'ZPL: Zebra, and most others',
    tspl: 'TSPL: TSC',
    epl: 'EPL2',
    pdf: 'PDF',
    'pwg-raster': 'PWG raster',
    png: 'PNG',
  } satisfies Record<LanguageId, string>,
  dpi: 'Dots per inch',
  width: 'Media, mm wide',
  height: 'mm long',
  reached: 'Reached',
  notReached: 'Not reached',
  looking: 'Looking',
  asks: (agent: string) => `${agent} asks the printer who it is.`,
  agentAway: (agent: string) => `${agent} is not connected. It looks once it is.`,
  goesOn:
    'The agent goes on trying. Close this whenever you like: the address stays, and the page Printers says when it is reached.',
  state: 'State',
  by: 'Added by',
  all: (n: number) => `Added by their address (${n})`,
  takeAway: 'Take away …',
  takeAwayTitle: (name: string) => `Take ${name} away?`,
  takeAwaySays:
    'The agent does not drive this address any more. Jobs that wait for the printer stay, and can be moved.',
  takenAway: 'Taken away.',
};
