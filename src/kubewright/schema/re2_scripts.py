"""The scripts of Unicode 15 (Greek, Han, ...), which Python's standard library does not know. Data only.

Each script is one line: its name, then its ranges as hexadecimal steps `gap[-length]` from the end of the range before.
Packed with zlib and base 85 to stay small. Source: the Unicode Character Database's Scripts.txt, as in Go's tables.
"""

from __future__ import annotations

import base64
import zlib
from typing import Final

__all__ = ["script_ranges"]

_PACKED: Final = (
    "c-oCv+mhQh5`E`a;0IVm0K7i>lCrb*IIhgZsqBlYNrDnBiJVZPU6Zfha~jmxaq_U`(pYNT8htr^8ZY{joQ(}lmZf=XinPJUCNB;%q_%?8it%Zn"
    "v`k)1a-C13OuM&ZSmyod>G5zeHqSB7<rrV29XnHUGvm?%pB^8Fj~(!*F<ojKd?{Ostto8k1~b^y2F@{6nseB8W^fp*9F)MpR3RVm#}}qH&ZdK@"
    "tR7L9W+-zmuLhjc51CCpcM#pr8L!7W3h}Qph5o<k6vuD>;%{AE#uaguuD6*fbx|IFcs0{<4in5_3Xh8vTx{{jnW3ojG*4c9370E|ZPvmhP(Dw~"
    "<fWX(DO`fF6y_a-E<k!-&qhkg(xNh*&6?Et8sf`EcAw;6V1*vu=&^qR@l}r4pu?`-G^tNshG~zDO;cy8d4+k@#TM~8IK|^<y@|1iF4g-$f`bk+"
    "9xv;0gvC4PRntbDI<SR5l9%)2e4dBdxFB2?tfWrp20J7#7df1{GUJVU?CiV|ipSFlo~<DsFm2s$Hx~w0%ab8IjJ>f{4v9}*$s|1k>_s~-Bc{s<"
    "@x}0}5J0eUUcj2RZPNjBmr;%DU^JiM_u9!t7oS?0;#lF;L|yXgAjh*nM@v_z7cGS_I<@hok(9=5XdMh7zK;Q_dU}MeElg8Yj6)30i(Jm}fT878"
    "l2`NjJWmGK&)^qK#vjL^4r*fydt#u2QA-4p8r_?!FfbuwtU>^r!9Xo*8stodKxaVaJydQ=_{+ki#Q;N?yv9J+X}IQHFu~O7@<PKJUe3ytwk;UN"
    "0>_K0VKJH+nAvR;bwNy&%s9A{errm22P-VjYzEpIrf1}60++moO$#`z@hR~lkC{_rCStCDA_X<eO@Xj6O^#GWzCw53ryk#7Oe9ZciYAo`yL6V~"
    "qTxB#lohm)5>6Ok8Vj=l2~y%j&$#U^Ml9y&nNAb5$s@Ylj4lS)5~zaJG%gXpuz%*`{g`ewai=pr=g&~k25lpS8d>_ZQe~k)OJ^Y(daQwo8f;oK"
    "12MBReMt}Y@lV0%ff4FDEvQdkDxCP|Y;!P{+kgcT;xrknO<>y%ZgS026&1Rcb|a?PyuzqQIPhrK;W9LS$+Lsva||?>Luo-6HxXy832|mk&0$Ie"
    "af=JlQ@Bx{(i~NZUj+h?4y7Ntz*o3$1DWF&g&ml5P{n#plxWF1b-iArN&D>_ej0TSZbDynS)L(4a5{2le!QYY_@JesZY<4R0v2DbQy7PNLEUkL"
    "5#KZnhcf0*mv%_Xr^jWSuTYVIQYf~&R<DVK(&2e`H%>DX(+y3QmJZSdAcP}{A~h3Fpi6}asEyE~*siP@K~;^ADG-cR&6o>}bok!6<TXHR2|Spa"
    "00CZyF951N0LZX%BBTrT1B~7brPbZIyh&b<r~$hd$8}kOJ)B&co9_v~wvUklqYJ0c`-LFI3;H&By*{4iCtjx|D5DUT&vuVM_0#?d2K})jdj;a6"
    "NPYqmULp`Gh(hpm7FYwo6*AWJpRR{-ex$^4O})itY25bB-9#??#~7XCZ{xX(Fp<*?wh0xs$EC_G%K!aS^^QPv``o5m-?iV$Fbx%wH(_4(5p*S@"
    "m|=Q4(OE4*$%$59xXEtg$(xhxL0K4cjwURK6kZ}Wu#U$s46@|S3|r7N-jnwvZx)%Z2fD*&|6Wy}E9kAR5`Qbkvu;cd@Ma0&XnYkn*a$|XA?Zdt"
    "lxYNHCv<CE#SLLi1y@uai_6%Xh1~5+^^LVK@U)->E!P{aJJkjZ364d$2vN4^frYFDrq4<SNb+X=EQ?%6BemV8Z`|m|8#dbjZ)h`hc#9~6h1cn`"
    "oMiWAo_cbCzRaQq5s%`Rf&q)E%XvK>a9S2mE0l!%U{AYYr&Ak5tLCxB5yi6PEn>h05FN$1q9z~}EGmw*tA-(=U5BMjJFpBCcGyacEoq+;xK?C@"
    "^PV*-%Z60SUJDg`PtfZX@5-8xiPDpq4u#7R`U4Ah&OAg)4OC^no|O53;ebdxLI)@bYh<O)$@Onl2IaL5#L%^(m4moTtt-?XPW&zpaA)p44&(0E"
    "`7loVCxl_vYYr2bIk-;q3?zeQHplPlqN!0cts|QS&q&^eb_ri`drLTOSnB}xD6eiS5&4b!>IWN-3xI7xCNYZ;e=Nzi8cGr-@*!N34#^}WKc621"
    "IM`_i;=iFvO&&*Y*2&KkNYr=@uqCkz)&Z%2ao`zThE<we-C7a`gl-n&tJ6rpvBVM6RgpE&QJq52;03Enl8mk|OXiGa)c2VQjLf1nZHpsZbRpoI"
    "p=M+5maIZxgKj7QUISFTbjt_;ok28rALVe8FC*!CsYWc*>K{`UU__+!@uo<{<UfLPKw>MT-+82wY!Kebi0KRu%AIK;nZR(xbP#m6Tr0OGBO*x@"
    "dac-%dd1)J56eOPqj!K|MH9OXHbme?$~W0PbcpCC68IJj__?JaW3-H901UGP+kK^W1L-)?9Y~Rr&AyW-IqcpeQCYEA;gfd<S?0?@uan7!hm5i6"
    "c8ktLj@6I@VE%~KXLo;=(`k3FCIqP*0=QUf;k~}Vlyg`RTQEftZB~)rv2Y9+oIh(f!m?x)Oag>!FJDD*#({WyCSsGkm)QgWm^IHGT4grN`Ypnv"
    "jaf3^1Meo{g5`nugB;ZMPW=!&(GJ$A$r}Z_IwpbV46pUqu?s<3GvU#q21a0KYLZS++D@4^$VDGng$Uw~tserpd{)ttFL`fc`HCepADW6)11$EY"
    "S`7lFbiL78eU+DrCg=g*hsTb^iB-)rTZkYoc|V?8P!0M`uR=0MUYDmW#-<?4?gc3i$F=FPB)ZjY?4@B7M-J#V3VDMEmKg*B;$1NLvKq<JkUHM5"
    "waNRZZfnMf%N>6A@pt1Cr_1C{4)Ph0#ulu=LQ0MxCx`$W2wF7+Cj=f}B#3mk^zgTSoz-GcmW7#9Pry;QL9;`_2y=u;4?6D8i$lJ2hcL0LMG3aU"
    "t=RM!!P#>DR=1R!ZFQ?Px5`y3+}?#g3^Mi$BFB~irxpTXxQ20eCr_yGBFd*sClPwMX6nQ4-FTGaiUR^UUB?t3Ftp6%B)eDZasfl6oxo|V@^a-`"
    "{kJ)PV|E!42I+A(BIc1#<ZOg=U&q>bH|u5e35K*8YRuDKA8m}X%2-+1e6n)ZjK8685!T7w!W|{w0w*Ha-Fmu4r_r%D<`=mJEC6nLrUw}^XcwC%"
    "*S8!Niy`?SE#NA;q^@<_2FUP1_Pe_k{#$4j4Wb4@cwwW|;K`CHUaKV~`4GPD9%S6TUtuX4Kzka^5%#y16G+p@&Wl#L+=t_As!kDtwe-V!Ijo95"
    "Yz)co>o)oDG|Dkd``yP?y2BcFZ_&c<p%bgQc8cGS{FgnS3P1@ox_>$CUL8ilQ^!yqAn12**J*!yk|4YzZUg_IC)DwuuX2j?lG}Tvo>TdU88v06"
    "Z)Y)jqlY>4F)Zh}gvZEDc8L@DG{IK^1TzQj=lzy*L*)8Vxc+_f@_F-zbvf$hof3bQ{r0p!tn}x=Y-y5TmJ!UO-RRo?L4Rv40nZOhFx*A<jPJbN"
    "lyx4mvrNip@_KvIY7$gm`Fgndpw!1PLQ``)D<^z9%sZW*mN0SCI^O1^th-kudLUtw#q9TW^6?=13ko)<ZBB%QU=9F@4VK~yRGxgi$mtrE?~8w}"
    "1&4&Q2fzI_0JZk0gkCSuCBLo{&Bmv?T%T8xd$6B{<<8WxT!LIcxGsW%xln^zFVg^!?omfc04$q4cEk{Ti8|#mmhQ*C*I=_nt*?fp{gCdb-*L!D"
    ">-2g~-I9qb^T+UX0CJjs<MFsau2qn=B{m~U{GuDHwAnf(ANYikd>1=j^YMOO1i=G>$MZ-%^?f7d$kTjoXBry%7B0DGE^jZIR5-pGRmuI+X}*p-"
    "r2E4DLURg2WJqWDvdqrcw^0vNP)Qz;{-+to>AN$UK}uSgnA=tP9bZZm42T8A7CyO(9@K1tisQqLk%(RvlwN0i8qvm!L^g&R%ymbF9A>t1{|2J-"
    "crtB$YhCh<kmXzTR@169-`>D(GuZqMj8wFYUCEc5fZeA3g%4_il*$!ZRklVxl<`dr{F=1h4THX~)yYFRt^3t<*$*sn_y<GW-uyO>Nah7AkRg&*"
    "dCOm;34F?Em_KduFt&lAs-;88n`UJhzeQv(74sg@egKjW#`Rt~hQ1*|yd2i6;%%*4us}Y{*O~24Lzqu~BM@FAa>WdH$tUO`e1!mWOFn@YAJ;#b"
    "ZUxLD&*w&)|Lu43yG-3dckk3kB_wEe_Q?4wU03so7Cmk9NBC=G`ODZGx@POQZSn^@P6auFx-XOe!a%M31-^6t=PC;soTxee2kYDem;"
)


def script_ranges() -> dict[str, tuple[tuple[int, int], ...]]:
    """The inclusive ranges of every script, by its name as Unicode writes it (`Old_Italic`)."""
    scripts: dict[str, tuple[tuple[int, int], ...]] = {}
    for line in zlib.decompress(base64.b85decode(_PACKED)).decode().splitlines():
        name, *steps = line.split(" ")
        ranges: list[tuple[int, int]] = []
        end = 0
        for step in steps:
            gap, _, length = step.partition("-")
            start = end + int(gap, 16)
            end = start + int(length or "0", 16)
            ranges.append((start, end))
        scripts[name] = tuple(ranges)
    return scripts
