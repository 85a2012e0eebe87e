/**
 * Words that make a sentence hard to read, each with what to write instead.
 * `CONTRIBUTING.md` has the rules behind them, with good and bad pairs.
 *
 * @type {readonly { pattern: RegExp, instead: string }[]}
 */
export const PATTERNS = [
  {
    // A question may begin with such a word.
    pattern: /^(?:who|whoever|what|whatever|whether|where|of|that)\b(?!.*\?$)/i,
    instead: 'begin with the subject: "A waiter that …", "If …", "The value …"',
  },
  { pattern: /\b(?:whoever|whomever|whosoever)\b/i, instead: 'the holder, the waiter, the caller' },
  {
    pattern: /\b(?:those|one|ones|him|anybody|somebody|nobody|everybody) who\b/i,
    instead: 'name them: waiters, holders, callers',
  },
  { pattern: /\b(?:somebody|nobody|anybody)\b/i, instead: 'another client, no client, any client' },
  { pattern: /\b(?:that|those|these) of\b/i, instead: 'repeat the noun' },
  { pattern: /\bthe (?:one|ones) (?:that|which|who|whose|of)\b/i, instead: 'repeat the noun' },
  {
    pattern: /\b(?:is|are|was|were|be|been|being) told\b/i,
    instead: 'is reported, is emitted, receives',
  },
  { pattern: /\b(?:tell|tells|told|telling) (?:of|about)\b/i, instead: 'report, list, describe' },
  { pattern: /\b(?:hear|hears|heard) (?:of|from)\b/i, instead: 'receive, learn' },
  { pattern: /\bfor ever\b/i, instead: 'forever' },
  { pattern: /\bwithout an? end\b/i, instead: 'forever, no limit' },
  { pattern: /\bof no use\b/i, instead: 'invalid, useless' },
  { pattern: /\balso (?:when|where|if|while|after|before)\b/i, instead: 'even when, even if' },
  { pattern: /\bat the (?:most|least)\b/i, instead: 'at most, at least' },
  {
    pattern:
      /\b(?:anew|thereby|therein|thereof|thereupon|lest|henceforth|hitherto|whereupon|wherein)\b/i,
    instead: 'again, so, in it',
  },
  {
    pattern:
      /\bby and by\b|\bby its clocks\b|\bbe it\b|\bas ever\b|\ball the same\b|\bif need be\b/i,
    instead: 'gradually; or leave it out',
  },
  { pattern: /\bin vain\b/i, instead: 'without a result; "finds nothing"' },
  { pattern: /\bno more\b(?! (?:than|\w+ than))/i, instead: 'no longer' },
  {
    pattern: /\b(?:come|comes|came) (?:to nothing|about|round|of it)\b/i,
    instead: 'fails, happens, returns',
  },
  { pattern: /\bputs? up with\b/i, instead: 'tolerates' },
  { pattern: /\blet(?:s|ting)? go\b/i, instead: 'releases' },
  { pattern: /\bgo(?:es|ing)? on\b/i, instead: 'continues' },
  {
    pattern: /\b(?:is|are|was|were) (?:to be had|not to be had|let in|there still|out)\b/i,
    instead: 'is available, acquires the lock',
  },
  { pattern: /\bhas (?:it|them|that) there\b/i, instead: 'holds it' },
  { pattern: /\b(?:makes|make) no sense\b/i, instead: 'is invalid' },
  { pattern: /\bbesides\b/i, instead: 'also, in addition' },
  {
    pattern: /, for (?:it|they|there|nobody|none|nothing)\b/i,
    instead: 'because',
  },
  { pattern: /\bnot (?:so|even so)\b(?! \w)/i, instead: 'name what differs' },
  { pattern: /\bwere (?:it|the|a|one|there)\b(?=[^.]*\bwould\b)/i, instead: 'if … were' },
  { pattern: /\b(?:should|had) (?:it|they|one|that)\b(?=[^.?]*,)/i, instead: 'if it …' },
]

/** A longer sentence is split. */
export const MOST_WORDS = 25
