"""Prototype."""
from __future__ import annotations
from dataclasses import dataclass, replace
import numpy as np
from tacit.mixture.component_estimates import _within_bounds
BETA=0.7
MOST=0.5
WHOLE=False

@dataclass
class Step:
    logs: object
    shifts: object
    shapes: object
    def inner(self, other):
        return self.logs*other.logs+ (self.shifts*other.shifts).sum(1) + .5*(self.shapes*other.shapes).sum((1,2))
    def scaled(self, f):
        return Step(f*self.logs, f[:,None]*self.shifts, f[:,None,None]*self.shapes)
    def plus(self, o): return Step(self.logs+o.logs, self.shifts+o.shifts, self.shapes+o.shapes)

def _fun(m, f):
    v, a = np.linalg.eigh((m+m.transpose(0,2,1))/2)
    return np.einsum("kij,kj,klj->kil", a, f(v), a)

def step_between(a, b):
    L = np.linalg.cholesky(a.covariances)
    inv = np.linalg.inv(L)
    shifts = np.einsum("kij,kj->ki", inv, b.means-a.means)
    white = inv @ b.covariances @ inv.transpose(0,2,1)
    return Step(np.log(b.weights/a.weights), shifts, _fun(white, lambda v: np.log(np.maximum(v,1e-300))))

def push(before, after, last, least):
    step = step_between(before, after)
    if last is None or len(last.logs)!=len(step.logs): return after, step
    cos = step.inner(last)/np.sqrt(np.maximum(step.inner(step)*last.inner(last),1e-300))
    if WHOLE:
        w=after.weights; cos=np.full(len(w), (w@step.inner(last))/np.sqrt(max((w@step.inner(step))*(w@last.inner(last)),1e-300)))
    beta = BETA*np.maximum(cos,0)
    extra = last.scaled(beta)
    length = np.sqrt(extra.inner(extra))
    extra = extra.scaled(np.minimum(1, MOST/np.maximum(length,1e-12)))
    L = np.linalg.cholesky(after.covariances)
    w = after.weights*np.exp(extra.logs)
    cov = L @ _fun(extra.shapes, np.exp) @ L.transpose(0,2,1)
    new = replace(after, weights=w/w.sum(), means=after.means+np.einsum("kij,kj->ki", L, extra.shifts), covariances=_within_bounds(cov, least))
    return new, step.plus(extra)
