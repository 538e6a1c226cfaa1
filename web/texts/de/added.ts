/** German words of printers that people add by their address. */
import type { addedWords as english } from '../en/added.ts';

export const addedWords: typeof english = {
  title: 'Drucker hinzufügen',
  open: 'Öffnen',
  add: 'Hinzufügen',
  address: 'Adresse',
  addressHint:
    'IP-Adresse oder Name im Netz, mit dem Port, wenn er nicht 9100 ist. IPP: ipp://drucker.local/ipp/print',
  agent: 'Agent',
  agentHint: 'Er steht im Netz des Druckers und steuert ihn von jetzt an.',
  noAgent:
    'Hier ist kein Agent, der einen Drucker erreichen könnte. Starten Sie erst einen neben den Druckern.',
  name: 'Name',
  nameHint: 'Leer: wie der Drucker sich selbst nennt.',
  more: 'Falls der Drucker es nicht selbst sagt',
  moreHint: 'Die meisten Etikettendrucker sagen Auflösung und Material selbst. Was hier steht, gilt.',
  language: 'Spricht',
  languages: {
    zpl: 'ZPL: Zebra und die meisten anderen',
    tspl: 'TSPL: TSC',
    epl: 'EPL2',
    pdf: 'PDF',
    'pwg-raster': 'PWG Raster',
    png: 'PNG',
  },
  dpi: 'Punkte je Zoll',
  width: 'Material, mm breit',
  height: 'mm lang',
  reached: 'Erreicht',
  notReached: 'Nicht erreicht',
  looking: 'Sucht',
  asks: (agent) => `${agent} fragt den Drucker, wer er ist.`,
  agentAway: (agent) => `${agent} ist nicht verbunden. Er sucht, sobald er es ist.`,
  goesOn:
    'Der Agent versucht es weiter. Sie können das hier schließen: Die Adresse bleibt, und die Seite Drucker sagt, wann er erreicht ist.',
  state: 'Zustand',
  by: 'Hinzugefügt von',
  all: (n) => `Mit ihrer Adresse hinzugefügt (${n})`,
  takeAway: 'Wegnehmen …',
  takeAwayTitle: (name) => `${name} wegnehmen?`,
  takeAwaySays:
    'Der Agent steuert diese Adresse nicht mehr. Aufträge, die auf den Drucker warten, bleiben und lassen sich verschieben.',
  takenAway: 'Weggenommen.',
};
