from collections.abc import Mapping, Sequence
from typing import NamedTuple
import math
K1=1.2; B=0.75; TOPIC=3.0; TAGS=2.0; POWER=1.0

class Term(NamedTuple):
    text: str
    weight: float
    df: int

def idf(df:int,n:int)->float:
    return math.log(1+(n-df+0.5)/(df+0.5))

def telling(asked: Mapping[str,float], frequencies: Mapping[str,int], n:int)->list[Term]:
    terms=[Term(t,w,frequencies[t]) for t,w in asked.items() if frequencies[t]]
    if n>=200:
        terms=[t for t in terms if t.df<=n*0.2] or sorted(terms,key=lambda t:t.df)[:3]
    return sorted(terms,key=lambda t:t.df)

def scores(terms: Sequence[Term], missing: float, postings: Sequence[Sequence[tuple[int,int,int,int]]], n:int, average:float, lengths: Mapping[int,int]|None=None)->dict[int,float]:
    sums:dict[int,float]={}
    cov:dict[int,float]={}
    total=missing
    for term,rows in zip(terms,postings,strict=True):
        w=idf(term.df,n)*term.weight
        total+=w
        for number,topic,tags,content in rows:
            if lengths is None: norm=K1
            elif number in lengths: norm=K1*(1-B+B*lengths[number]/average)
            else: continue
            f=TOPIC*topic+TAGS*tags+content
            sums[number]=sums.get(number,0.0)+w*f*(K1+1)/(f+norm)
            cov[number]=cov.get(number,0.0)+w
    return {number:s*(cov[number]/total)**POWER for number,s in sums.items()}

def nudge(confidence,relevance,reference_count,age_days):
    return 1+0.03*(confidence-1)+0.04*(relevance-.5)+0.02*min(1,math.log1p(reference_count)/5)+0.02/(1+max(age_days,0)/30)
